// The host of serve({ engine }): requests become jobs, and clients read from the record.
import { createHash } from "node:crypto";
import { isObject, type JsonObject } from "../../base/json.ts";
import type { UserMessage } from "../../messages/message.ts";
import type { HostedRun, RunHost } from "../../serve/runs/run-host.ts";
import type { Show } from "../../serve/telling/show.ts";
import { journalFor } from "../../sessions/journal/plain-journal.ts";
import type { PersistentSession } from "../../sessions/persistent-session.ts";
import type { EngineClient } from "./client.ts";

export interface HostOptions {
  /** The name of the agent. */
  readonly agent: string;
  readonly show: Show;
}

/** Hosts the runs of a server on workers. */
export function runsOnWorkers(client: EngineClient, { agent, show }: HostOptions): RunHost {
  const hosted = (runId: string, namespace: string): HostedRun => ({
    runId,
    read: () => client.read(runId, { show, namespace }),
  });
  return {
    async start({ session, context }, message) {
      const { namespace, sessionId } = session;
      const working = await steer(session, message);
      if (working !== undefined) return hosted(working, namespace);
      const { runId } = await client.submit(agent, {
        input: message,
        session: sessionId,
        namespace,
        ...(isObject(context) && { context: context as JsonObject }),
      });
      return hosted(runId, namespace);
    },
    // A second request for the same turn has the same id, so it reads the run of the first.
    async replace({ session, context }, message, replaced) {
      const { namespace, sessionId } = session;
      const submitted = {
        input: message,
        runId: idFrom(namespace, sessionId, replaced),
        session: sessionId,
        namespace,
        ...(isObject(context) && { context: context as JsonObject }),
      };
      const { runId } = await client.submit(agent, submitted, replaced);
      return hosted(runId, namespace);
    },
    async resume({ session }, run, decisions) {
      const { runId } = run;
      const { namespace } = session;
      await client.decide(runId, { ...decisions, namespace });
      return { runId, read: () => client.read(runId, { show, namespace, told: run }) };
    },
    // Others read from the record.
    find: () => undefined,
    // The workers resume the runs of a worker that died.
    recover: async () => undefined,
    async stop({ session }) {
      const { namespace, sessionId } = session;
      return client.stopSession(sessionId, { namespace });
    },
  };
}

function idFrom(...parts: readonly string[]): string {
  const hex = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  return hex.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

// The run that took the message in; undefined if none works on the session, or if it ended first.
async function steer(session: PersistentSession, message: UserMessage): Promise<string | undefined> {
  const sent = await journalFor(session).inbox?.steer([message]);
  if (sent === undefined) return undefined;
  if ((await sent.joined) === "next" && (await sent.withdraw())) return undefined;
  return sent.takenBy();
}
