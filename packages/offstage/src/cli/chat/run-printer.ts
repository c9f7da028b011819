// Prints a run while it happens: its text as it is written, and each tool as one line when it has ended.
import type { AgentEvent, RunResult } from "../../index.ts";
import { textOf } from "../../messages/message.ts";
import type { Io } from "../io.ts";
import { dotted } from "../output/blocks.ts";
import { callLines } from "../output/calls.ts";
import { fit } from "../output/columns.ts";
import { shortId } from "../output/short-ids.ts";
import { counted, dollars, duration, short } from "../output/words.ts";
import { StreamedText } from "./streamed-text.ts";

export class RunPrinter {
  readonly #io: Io;
  readonly #text: StreamedText;
  readonly #write: (text: string) => void;
  readonly #status: (text: string | undefined) => void;
  #wasTool = false;

  constructor(io: Io, write: (text: string) => void, status: (text: string | undefined) => void) {
    this.#io = io;
    this.#write = write;
    this.#status = status;
    this.#text = new StreamedText(io, (text) => {
      status(undefined);
      write(text);
    });
  }

  print(event: AgentEvent): void {
    const io = this.#io;
    if (event.type === "text-delta") this.#say(event.delta);
    else if (event.type === "model-start") this.#status(`${io.inline(event.modelId)} …`);
    else if (event.type === "reasoning-delta") this.#status("thinking …");
    else if (event.type === "tool-start") this.#begin(`${io.inline(event.toolName)} …`);
    else if (event.type === "tool-end") this.#end(event);
    else if (event.type === "subagent-event") this.#beneath(event.event, event.agent);
    else if (event.type === "model-retry")
      this.line(
        io.paint(
          "yellow",
          fit(`  ↻ attempt ${event.attempt} failed, again after ${duration(event.delayMs)}`, io.width),
        ),
      );
    else if (event.type === "guardrail-trip")
      this.line(
        io.paint(
          "red",
          fit(`  ✗ guardrail ${io.inline(event.trip.guardrail)}: ${io.inline(event.trip.message, io.width)}`, io.width),
        ),
      );
    else if (event.type === "message-joined") this.line(io.paint("dim", "  ↳ it has read what you said"));
    else if (event.type === "step-end") this.#text.end();
  }

  /** A line about the whole run, when it has ended. */
  close(result: Pick<RunResult<unknown>, "steps" | "usage" | "cost" | "runId" | "outcome">, startedAt: number): void {
    this.end();
    const { steps, usage, cost, runId, outcome } = result;
    if (outcome.status === "waiting") return;
    if (outcome.status === "stopped")
      this.line(
        this.#io.paint(
          "yellow",
          fit(`  ■ stopped: ${this.#io.inline(outcome.message, this.#io.width)}`, this.#io.width),
        ),
      );
    const facts = [
      counted(steps.length, "step"),
      duration(Date.now() - startedAt),
      `${short(usage.totalTokens)} tokens`,
      dollars(cost),
      `run ${this.#io.inline(shortId(runId))}`,
    ];
    this.line(dotted(this.#io, facts));
  }

  /** Ends the line of the text. */
  end(): void {
    this.#text.end();
    this.#status(undefined);
  }

  /** Prints a line of its own. */
  line(text: string): void {
    this.end();
    this.#write(`${text}\n`);
  }

  #say(delta: string): void {
    if (this.#wasTool && delta.trim() !== "") this.line("");
    if (delta.trim() !== "") this.#wasTool = false;
    this.#text.add(delta);
  }

  #begin(text: string): void {
    this.#text.end();
    this.#status(text);
  }

  #end({ toolName, result }: Extract<AgentEvent, { type: "tool-end" }>): void {
    const { input, isError, status, content, durationMs } = result;
    const resultText = isError ? textOf({ content }) : undefined;
    const call = {
      ...{ toolName, inputText: input === undefined ? "" : JSON.stringify(input), resultText },
      status: status ?? (isError ? ("error" as const) : ("ok" as const)),
      took: duration(durationMs),
    };
    for (const line of callLines(this.#io, call, "  ")) this.line(line);
    this.#wasTool = true;
  }

  // The tools of subagents show in the status line only.
  #beneath(event: AgentEvent, agent: string): void {
    if (event.type === "tool-start")
      this.#status(`${this.#io.inline(event.agent ?? agent)}: ${this.#io.inline(event.toolName)} …`);
    if (event.type === "subagent-event") this.#beneath(event.event, event.agent);
  }
}
