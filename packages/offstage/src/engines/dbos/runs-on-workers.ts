// The host of serve({ engine }): requests become jobs, and clients read from the record.
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

// The run that took the message in; undefined if none works on the session, or if it ended first.
async function steer(session: PersistentSession, message: UserMessage): Promise<string | undefined> {
  const sent = await journalFor(session).inbox?.steer([message]);
  if (sent === undefined) return undefined;
  if ((await sent.joined) === "next" && (await sent.withdraw())) return undefined;
  return sent.takenBy();
}
