// A conversation at the terminal: each line is a turn; what waits for a person is asked at once; Esc stops the run.
import type { DecisionLists } from "../../agent/ports/approvals.ts";
import type { JsonObject } from "../../base/json.ts";
import { isOffstageError, messageOf } from "../../errors.ts";
import type { Agent, AgentStream, Approval, RunResult, Store } from "../../index.ts";
import type { PersistentSession } from "../../sessions/persistent-session.ts";
import { answerFrom, answerHint } from "../agents/answers.ts";
import type { Io } from "../io.ts";
import { headingLine, textLines } from "../output/blocks.ts";
import { fit } from "../output/columns.ts";
import { errorWords } from "../output/words.ts";
import { RunPrinter } from "./run-printer.ts";
import type { Terminal } from "./terminal.ts";

export interface Talk {
  readonly agent: Agent;
  readonly store: Store;
  readonly session: PersistentSession;
  readonly context: JsonObject | undefined;
}

type QuestionApproval = Extract<Approval, { readonly kind: "question" }>;

export class Talker {
  readonly #io: Io;
  readonly #terminal: Terminal;
  readonly #talk: Talk;
  constructor(io: Io, terminal: Terminal, talk: Talk) {
    this.#io = io;
    this.#terminal = terminal;
    this.#talk = talk;
  }

  /** Talks until the person leaves. */
  async talk(): Promise<void> {
    for (;;) {
      const text = await this.#terminal.ask("› ");
      if (text === undefined) return;
      if (text.trim() !== "") await this.turn(text);
    }
  }

  /** One message, and everything up to its answer. */
  async turn(text: string): Promise<void> {
    const { agent, session, context } = this.#talk;
    this.#say(headingLine(this.#io, { bar: "blue", title: "you" }), ...textLines(this.#io, text), "");
    await this.#follow(agent.stream(text, { session, context }));
  }

  /** Decides what a run waits for, and continues it. An answer that does not fit is asked for again. */
  async decide(runId: string, approvals: readonly Approval[]): Promise<void> {
    const { agent, store, context } = this.#talk;
    for (;;) {
      const decisions = await this.#ask(approvals);
      if (decisions === undefined)
        return this.#say(this.#io.paint("magenta", "  It keeps waiting: offstage inbox shows it."), "");
      if (await this.#follow(agent.resumeStream(runId, { store, context, ...decisions }))) return;
    }
  }

  // False if the run was refused before it went on. A line that is typed meanwhile joins the run; if that has ended before, it is a
  // turn of its own.
  async #follow(stream: AgentStream): Promise<boolean> {
    const { agent, session, context } = this.#talk;
    const { screen } = this.#terminal;
    const printer = new RunPrinter(
      this.#io,
      (text) => screen.write(text),
      (text) => screen.status(text),
    );
    const typed: AgentStream[] = [];
    const startedAt = Date.now();
    let isBegun = false;
    let isRefused = false;
    let result: RunResult | undefined;
    this.#terminal.onStop = () => stream.abort(new DOMException("Stopped by the person.", "AbortError"));
    this.#terminal.onLine = (text) => {
      printer.line(this.#io.paint("blue", fit(`  › ${this.#io.inline(text, this.#io.width)}`, this.#io.width)));
      typed.push(agent.stream(text, { session, context, onBusy: "steer" }));
    };
    try {
      for await (const event of stream) {
        if (!isBegun) screen.write(`${headingLine(this.#io, { bar: "green", title: this.#io.inline(agent.name) })}\n`);
        isBegun = true;
        printer.print(event);
      }
      result = await stream.result;
      if (isBegun) printer.close(result, startedAt);
    } catch (error) {
      for (const line of this.#ending(error)) printer.line(line);
      isRefused = isOffstageError(error, "invalid-argument");
    } finally {
      screen.status(undefined);
      this.#terminal.onStop = undefined;
      this.#terminal.onLine = undefined;
    }
    // A line that joined another run has no events of its own: that run was told already.
    if (isBegun) screen.write("\n");
    if (isBegun && result !== undefined && result.approvals.length > 0)
      await this.decide(result.runId, result.approvals);
    for (const each of typed) await this.#follow(each);
    return !isRefused;
  }

  #ending(error: unknown): string[] {
    const io = this.#io;
    const isAbort = (error as { name?: unknown } | null)?.name === "AbortError";
    if (isAbort) return [io.paint("yellow", fit("  ■ stopped; what was said so far is kept", io.width))];
    return textLines(io, `✗ ${errorWords(error)}`).map((line) => io.paint("red", line));
  }

  async #ask(approvals: readonly Approval[]): Promise<DecisionLists | undefined> {
    const decided: DecisionLists = { approve: [], reject: [], answers: [] };
    for (const approval of approvals) {
      const isDecided = await (approval.kind === "question"
        ? this.#askQuestion(approval, decided)
        : this.#askCall(approval, decided));
      if (!isDecided) return undefined;
    }
    return decided;
  }

  async #askCall({ toolCallId, runId, toolName, input, agent }: Approval, decided: DecisionLists): Promise<boolean> {
    const io = this.#io;
    const title = `${io.inline(agent)} wants to call ${io.inline(toolName)}`;
    this.#say(headingLine(io, { bar: "magenta", title }), ...textLines(io, JSON.stringify(input, null, 2)), "");
    const answer = (await this.#terminal.ask("run it? y, n, or e to edit › "))?.trim();
    if (answer === undefined) return false;
    const edited = /^e(dit)?$/i.test(answer) ? await this.#edited(input) : undefined;
    if (edited !== undefined) decided.approve.push({ toolCallId, runId, input: edited });
    else if (/^y(es)?$/i.test(answer)) decided.approve.push({ toolCallId, runId });
    else {
      const isPlain = /^(no?|e(dit)?)?$/i.test(answer);
      const reason = (isPlain ? ((await this.#terminal.ask("why not? (for the model) › ")) ?? "") : answer).trim();
      decided.reject.push(reason === "" ? { toolCallId, runId } : { toolCallId, runId, reason });
    }
    return true;
  }

  async #askQuestion(question: QuestionApproval, decided: DecisionLists): Promise<boolean> {
    const io = this.#io;
    const { toolCallId, runId, toolName, message, schema } = question;
    const hint = answerHint(schema);
    const title = `${io.inline(toolName)} asks`;
    this.#say(headingLine(io, { bar: "magenta", title }), ...textLines(io, message));
    this.#say(...(hint === "" ? [] : [io.paint("dim", `  ${fit(io.inline(hint), io.width - 2)}`)]), "");
    const answer = await this.#terminal.ask("answer, or nothing to decline › ");
    if (answer === undefined) return false;
    const isDeclined = answer.trim() === "";
    decided.answers.push({
      toolCallId,
      runId,
      ...(isDeclined ? { declined: true } : { value: answerFrom(answer, schema) }),
    });
    return true;
  }

  // Asks until it is JSON.
  async #edited(input: Approval["input"]): Promise<Approval["input"] | undefined> {
    for (let text: string | undefined = JSON.stringify(input); ; ) {
      text = await this.#terminal.ask("input › ", text);
      if (text === undefined) return undefined;
      try {
        return JSON.parse(text) as Approval["input"];
      } catch (error) {
        this.#say(this.#io.paint("red", `  ${this.#io.inline(messageOf(error))}`));
      }
    }
  }

  #say(...lines: string[]): void {
    this.#terminal.screen.write(`${lines.join("\n")}\n`);
  }
}
