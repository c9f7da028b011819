// A stream of an agent as chunks of another protocol, for programs that have their own server.
import type { AgentStream } from "../agent/agent-stream.ts";
import { checkOptions, checkRequired, checkValue, type OptionRule, objectWith, someText } from "../base/options.ts";
import { type AgUiEvent, AgUiWriter } from "./protocols/ag-ui-events.ts";
import { UiChunkWriter, type UiMessageChunk } from "./protocols/ui-chunks.ts";
import type { ServedEvent } from "./telling/served-event.ts";
import { type Show, someShow } from "./telling/show.ts";
import { codeOf, Teller } from "./telling/teller.ts";

export interface UiMessageChunksOptions {
  /** How much the client sees of tools. Default "conversation": only calls that wait for a person. */
  readonly show?: Show | undefined;
}

export interface AgUiEventsOptions extends UiMessageChunksOptions {
  /** The thread, which is the session. */
  readonly threadId: string;
  /** The client's id of the run. Default: the id of the stream's run. */
  readonly runId?: string | undefined;
}

const streamRule: OptionRule = {
  ...objectWith("a stream of an agent, such as agent.stream(…)"),
  isFit: (value) => typeof value === "object" && value !== null && Symbol.asyncIterator in value && "runId" in value,
};

/** The chunks of the AI SDK's UI message stream, for `createUIMessageStreamResponse({ stream })`. Cancelling it aborts the run. */
export function uiMessageChunks(
  stream: AgentStream<unknown>,
  options: UiMessageChunksOptions = {},
): ReadableStream<UiMessageChunk> {
  checkRequired("stream", stream, streamRule);
  checkOptions(options, { show: someShow }, "uiMessageChunks()");
  const writer = new UiChunkWriter();
  return project(stream, options.show, (event) => writer.write(event));
}

/** The events of AG-UI. Cancelling the stream aborts the run. */
export function agUiEvents(stream: AgentStream<unknown>, options: AgUiEventsOptions): ReadableStream<AgUiEvent> {
  checkRequired("stream", stream, streamRule);
  checkOptions(options, { show: someShow, threadId: someText, runId: someText }, "agUiEvents()");
  checkRequired("threadId", options.threadId, someText);
  checkValue("runId", options.runId, someText);
  const writer = new AgUiWriter(options);
  return project(stream, options.show, (event) => writer.write(event));
}

function project<T>(
  stream: AgentStream<unknown>,
  show: Show = "conversation",
  write: (event: ServedEvent) => readonly T[],
): ReadableStream<T> {
  const teller = new Teller(stream.runId, show);
  const events = stream[Symbol.asyncIterator]();
  let hasEnded = false;
  const next = async (): Promise<readonly T[] | undefined> => {
    try {
      const { done, value } = await events.next();
      if (done) return undefined;
      hasEnded ||= value.type === "run-end";
      return teller.tell(value).flatMap((event) => write(event));
    } catch (error) {
      // The last event has told the failure already, unless the run was refused.
      return hasEnded ? undefined : writeRefusal(teller, error, write);
    }
  };
  return new ReadableStream<T>({
    async pull(controller) {
      while ((controller.desiredSize ?? 0) > 0) {
        const chunks = await next();
        for (const chunk of chunks ?? []) controller.enqueue(chunk);
        if (chunks === undefined) return controller.close();
      }
    },
    async cancel() {
      await events.return?.();
    },
  });
}

function writeRefusal<T>(teller: Teller, error: unknown, write: (event: ServedEvent) => readonly T[]): readonly T[] {
  const code = codeOf(error);
  return write(teller.end({ status: "failed", reason: code, error: code }));
}
