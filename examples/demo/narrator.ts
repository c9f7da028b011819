// Prints a run as it happens: text as it is written, tools as they start and end, subagents indented.
import type { AgentEvent, AgentHooks, RunResult } from "offstage";
import type { Pace } from "./pace.ts";
import { line, paint, plain, width } from "./terminal.ts";

const margin = " ".repeat(9);

export class Narrator {
  readonly #pace: Pace;
  /** The column of the next word; 0 between texts. */
  #column = 0;
  #hasSpoken = false;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /** For a run that is not streamed. */
  get hooks(): AgentHooks {
    const tell = (event: AgentEvent) => this.tell(event);
    return { onStepStart: tell, onToolStart: tell, onToolEnd: tell };
  }

  async tell(event: AgentEvent, depth = 0): Promise<void> {
    if (event.type === "subagent-event") return this.tell(event.event, depth + 1);
    if (event.type === "text-delta" && depth === 0) return this.#speak(event.delta);
    if (event.type === "step-start") this.#done(depth, paint("dim", `${event.agent}, step ${event.step}`));
    if (event.type === "tool-start")
      this.#done(depth, `  ${paint("yellow", event.toolName)} ${paint("dim", line(event.call.inputText, width - 30))}`);
    if (event.type === "tool-end") this.#done(depth, `  ${resultLine(event.result)}`);
    if (event.type === "model-retry")
      this.#done(depth, paint("red", `the model failed; next try in ${Math.round(event.delayMs)} ms`));
  }

  async finish({ output, outcome, usage }: RunResult): Promise<void> {
    if (!this.#hasSpoken && output !== "") await this.#speak(output);
    this.#silence();
    const tokens = `${usage.inputTokens} tokens in, ${usage.outputTokens} out`;
    console.log(paint("dim", `${margin}${outcome.status}: ${outcome.message} ${tokens}.`));
  }

  async #speak(text: string): Promise<void> {
    if (this.#column === 0) process.stdout.write(`\n${paint("green", "agent")}`);
    if (this.#column === 0) this.#newLine("    ");
    this.#hasSpoken = true;
    for (const word of plain(text).split(/(?<=\s)/)) {
      if (this.#column + word.trimEnd().length > width) this.#newLine(`\n${margin}`);
      process.stdout.write(word.replace("\n", ""));
      this.#column += word.length;
      if (word.endsWith("\n")) this.#newLine(`\n${margin}`);
      await this.#pace.speak();
    }
  }

  #newLine(lead: string): void {
    process.stdout.write(lead);
    this.#column = margin.length;
  }

  #done(depth: number, text: string): void {
    this.#silence();
    console.log(`${paint("dim", "offstage │")} ${"    ".repeat(depth)}${text}`);
  }

  #silence(): void {
    if (this.#column > 0) process.stdout.write("\n");
    this.#column = 0;
  }
}

function resultLine({
  isError,
  content,
  durationMs,
}: {
  isError: boolean;
  content: unknown;
  durationMs: number;
}): string {
  const mark = isError ? paint("red", "✗") : paint("green", "✓");
  return `${mark} ${paint("dim", `${Math.round(durationMs)} ms`)} ${line(String(content), width - 34)}`;
}
