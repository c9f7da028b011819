// The options of `serve()`, and their rules.
import type { Agent } from "../agent/agent.ts";
import type { ContextInput } from "../agent/ports/agent-options.ts";
import {
  checkOptions,
  checkRequired,
  type OptionRule,
  objectWith,
  oneOf,
  someFunction,
  wholeFrom,
} from "../base/options.ts";
import { warn } from "../base/warn.ts";
import { messageOf } from "../errors.ts";
import type { PersistentSession } from "../sessions/persistent-session.ts";
import { type Store, someStore } from "../sessions/store.ts";
import type { AnyValues } from "../state/agent-context.ts";
import { type ProtocolName, protocols } from "./protocols/index.ts";
import { RefusedRequest } from "./protocols/refused-request.ts";
import type { RunEngine } from "./runs/run-host.ts";
import { type Show, someShow } from "./telling/show.ts";

/** The session that a request may use. `Values` is the type of the agent's context: if it has values that must be there, so must `context`. */
export type Authorized<Values extends object = AnyValues> = AuthorizedSession<Values> &
  (Record<string, never> extends Values ? unknown : { readonly context: ContextInput<Values> });

interface AuthorizedSession<Values extends object> {
  /** The session, or its id. Default: the id that the client named. */
  readonly session?: string | PersistentSession | undefined;
  /** The namespace of the store. Default: the store's own. */
  readonly namespace?: string | undefined;
  /** The context of the run: for instructions, tools and hooks. */
  readonly context?: ContextInput<Values> | undefined;
}

/**
 * Decides whether a request may use a session, by its headers: the body has been read. Undefined is answered with 401. The client
 * chooses the session id: check that it belongs to the user.
 */
export type Authorize<Values extends object = AnyValues> = (
  request: Request,
  sessionId: string,
) => Authorized<Values> | undefined | null | Promise<Authorized<Values> | undefined | null>;

/** The request, session and run of an error. */
export interface ServeErrorPlace {
  readonly sessionId?: string | undefined;
  readonly runId?: string | undefined;
  readonly request?: Request | undefined;
}

export interface ServeOptions<Values extends object = AnyValues> {
  readonly agent: Agent<unknown, Values>;
  /** Does the runs on workers instead of in this process; see `offstage/dbos`. */
  readonly engine?: RunEngine | undefined;
  /** The store of the sessions. Its conversation counts, not the client's. */
  readonly store: Store;
  readonly authorize: Authorize<NoInfer<Values>>;
  /** Default "ai-sdk". */
  readonly protocol?: ProtocolName | undefined;
  /** How much clients see of tools. Default "conversation": only calls that wait for a person. */
  readonly show?: Show | undefined;
  /**
   * Called once with every error, since clients get only its code. A request that is refused is an error without a stack; one that
   * `authorize` refuses is none. Default: prints a warning, except for requests that are refused.
   */
  readonly onError?: ((error: unknown, about: ServeErrorPlace) => void) | undefined;
  /** Keeps a serverless process alive until a run has ended. */
  readonly waitUntil?: ((work: Promise<unknown>) => void) | undefined;
  /** The largest body of a request. Default 4 MiB. */
  readonly maxBodyBytes?: number | undefined;
}

const agentRule = objectWith("an agent", "stream", "resumeStream");
const rules: Readonly<Record<keyof ServeOptions, OptionRule>> = {
  agent: agentRule,
  engine: objectWith("an engine, such as dbosEngine(…)", "hostRuns"),
  store: someStore,
  authorize: someFunction,
  protocol: oneOf(...Object.keys(protocols)),
  show: someShow,
  onError: someFunction,
  waitUntil: someFunction,
  maxBodyBytes: wholeFrom(1),
};

/** Throws `invalid-argument` unless the options are fit. */
export function checkServeOptions(options: ServeOptions): void {
  checkOptions(options, rules, "serve()");
  checkRequired("agent", options.agent, agentRule);
  checkRequired("store", options.store, someStore);
  checkRequired("authorize", options.authorize, someFunction);
}

/** Reports an error; never throws. */
export function reporter(onError: ServeOptions["onError"]): (error: unknown, about: ServeErrorPlace) => void {
  return (error, about) => {
    try {
      if (onError !== undefined) return onError(error, about);
      // Anybody can cause these, as often as they like.
      if (error instanceof RefusedRequest) return;
      const where = about.sessionId === undefined ? "" : ` on session "${about.sessionId}"`;
      warn(`A served request${where} failed: ${messageOf(error)}`);
    } catch (failure) {
      warn(`"onError" of serve() threw: ${messageOf(failure)}`);
    }
  };
}
