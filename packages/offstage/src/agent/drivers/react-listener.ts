// What a ReAct reply sounds like while it streams in: the answer is text, and everything on the way to it is reasoning.
import type { DeltaListener } from "../../models/stream-reply.ts";
import { readDecision } from "./react-decision.ts";

const answerBegins = /^\s*Final Answer\s*:\s*(\S[\s\S]*)$/i;
const maybeAnswer = /^\s*(Final Answer\s*:\s*)?$/i;
const actionBegins = /^\s*(Action\s*:|Observation\s*:)/i;
// Longer than this, a line that is none of these has become a thought.
const longestMarker = 24;

/** Tells a listener of a reply as `readDecision` will read it. An answer in no form at all is known when the reply ends. */
export function answerListener(listener: DeltaListener): DeltaListener {
  const reading = new Reading(listener);
  return {
    ...listener,
    text: (delta) => reading.add(delta),
    end() {
      reading.end();
      listener.end?.();
    },
  };
}

class Reading {
  readonly #listener: DeltaListener;
  #said = "";
  /** The present line, until it is clear what it is. */
  #line = "";
  #part: "unclear" | "thought" | "action" | "answer" = "unclear";

  constructor(listener: DeltaListener) {
    this.#listener = listener;
  }

  add(delta: string): void {
    this.#said += delta;
    for (const piece of delta.split(/(?<=\n)/)) this.#take(piece);
  }

  end(): void {
    this.#think(this.#line);
    if (this.#part === "answer") return;
    const { text, calls, correction } = readDecision(this.#said);
    if (text !== "" && calls.length === 0 && correction === undefined) this.#listener.text(text);
  }

  #take(piece: string): void {
    if (this.#part === "answer") this.#listener.text(piece);
    else if (this.#part === "action") this.#think(piece);
    else if (this.#part === "unclear") this.#judge(this.#line + piece);
    else {
      this.#think(piece);
      if (piece.endsWith("\n")) this.#part = "unclear";
    }
  }

  #judge(line: string): void {
    this.#line = "";
    const answer = answerBegins.exec(line)?.[1];
    if (answer !== undefined) {
      this.#part = "answer";
      this.#listener.text(answer);
    } else if (actionBegins.test(line)) {
      this.#part = "action";
      this.#think(line);
    } else if (maybeAnswer.test(line)) this.#line = line;
    else if (line.endsWith("\n")) this.#think(line);
    else if (line.trimStart().length > longestMarker) {
      this.#part = "thought";
      this.#think(line);
    } else this.#line = line;
  }

  #think(text: string): void {
    if (text !== "") this.#listener.reasoning(text);
  }
}
