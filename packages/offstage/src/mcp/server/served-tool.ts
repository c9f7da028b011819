// A tool that our MCP server offers, and what a call of it gets.
import type { Store } from "../../sessions/store.ts";
import type { JsonSchema } from "../../tools/schema.ts";

/** The rights of a caller, as `authorize` returns them. */
export interface McpAccess {
  /** The namespace of the store. Default: that of the store that was passed. */
  readonly namespace?: string | undefined;
  /** The only session that the caller can read and continue. Default: all sessions of the namespace. */
  readonly session?: string | undefined;
  /** The context of the runs that the caller starts. */
  readonly context?: object | undefined;
}

/** The caller's side of a call. */
export interface CallSite {
  /** The store in the namespace of the caller. */
  readonly store: Store;
  readonly access: McpAccess;
  readonly signal: AbortSignal;
  /** True if the client can ask a person. */
  readonly canAsk: boolean;
  /** The state that an earlier result of the same call handed out, verified; undefined in a first call. */
  readonly state: unknown;
  /** The answers to what an earlier result asked. */
  readonly answers: Readonly<Record<string, unknown>>;
  /** The size of a result in bytes. */
  readonly maxBytes: number;
  /** A copy without secrets. */
  readonly redact: <T>(value: T) => T;
}

/** A question to a person, in the form of the protocol. */
export interface Question {
  readonly message: string;
  readonly schema: JsonSchema;
}

/** A text, as a success or a failure; or questions, and what comes back with their answers. */
export type Served =
  | { readonly text: string; readonly isError?: boolean; readonly meta?: Readonly<Record<string, unknown>> }
  | { readonly questions: Readonly<Record<string, Question>>; readonly state: unknown };

export interface ServedTool {
  readonly name: string;
  readonly description: string;
  readonly input: JsonSchema;
  readonly hints: { readonly readOnlyHint: boolean; readonly openWorldHint: boolean };
  serve(input: Readonly<Record<string, unknown>>, site: CallSite): Promise<Served>;
}
