// Splits a streamed ReAct reply: the answer is emitted as text, and everything before it as reasoning.
import type { DeltaListener } from "../../models/stream-reply.ts";
import { readDecision } from "./react-decision.ts";

const answerBegins = /^\s*Final Answer\s*:\s*(\S[\s\S]*)$/i;
const maybeAnswer = /^\s*(Final Answer\s*:\s*)?$/i;
const actionBegins = /^\s*(Action\s*:|Observation\s*:)/i;
// A longer line without a marker is a thought.
const maxMarkerLength = 24;

/** Passes a reply to a listener as `readDecision` will read it. An answer without a marker is passed on when the reply ends. */
export function answerListener(listener: DeltaListener): DeltaListener {
  const splitter = new ReplySplitter(listener);
  return {
    ...listener,
    text: (delta) => splitter.add(delta),
    end() {
      splitter.end();
      listener.end?.();
    },
  };
}

class ReplySplitter {
  readonly #listener: DeltaListener;
  #reply = "";
  /** The current line, until its kind is known. */
  #line = "";
  #part: "unclear" | "thought" | "action" | "answer" = "unclear";

  constructor(listener: DeltaListener) {
    this.#listener = listener;
  }

  add(delta: string): void {
    this.#reply += delta;
    for (const piece of delta.split(/(?<=\n)/)) this.#addPiece(piece);
  }

  end(): void {
    this.#think(this.#line);
    if (this.#part === "answer") return;
    const { text, calls, correction } = readDecision(this.#reply);
    if (text !== "" && calls.length === 0 && correction === undefined) this.#listener.text(text);
  }

  #addPiece(piece: string): void {
    if (this.#part === "answer") this.#listener.text(piece);
    else if (this.#part === "action") this.#think(piece);
    else if (this.#part === "unclear") this.#classify(this.#line + piece);
    else {
      this.#think(piece);
      if (piece.endsWith("\n")) this.#part = "unclear";
    }
  }

  #classify(line: string): void {
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
    else if (line.trimStart().length > maxMarkerLength) {
      this.#part = "thought";
      this.#think(line);
    } else this.#line = line;
  }

  #think(text: string): void {
    if (text !== "") this.#listener.reasoning(text);
  }
}
