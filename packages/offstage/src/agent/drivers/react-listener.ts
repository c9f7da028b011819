// Splits a streamed ReAct reply: the answer is emitted as text, and everything before it as reasoning.
import type { DeltaListener } from "../../models/stream-reply.ts";
import { readDecision } from "./react-decision.ts";

const answerBegins = /^Final Answer\s*:/i;
const actionBegins = /^(Action|Observation)\s*:/i;
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

// Looks at each character a bounded number of times, whatever the pieces in which a reply arrives.
class ReplySplitter {
  readonly #listener: DeltaListener;
  #reply = "";
  /** Blanks and blank lines, until the kind of the line behind them is known. */
  #blanks = "";
  /** The current line from its first character that is not blank, until its kind is known. */
  #line = "";
  #part: "unclear" | "thought" | "action" | "answer-marker" | "answer" = "unclear";

  constructor(listener: DeltaListener) {
    this.#listener = listener;
  }

  add(delta: string): void {
    this.#reply += delta;
    for (const piece of delta.split(/(?<=\n)/)) this.#addPiece(piece);
  }

  end(): void {
    if (this.#part === "answer") return;
    this.#think(this.#blanks + this.#line);
    const { text, calls, correction } = readDecision(this.#reply);
    if (text !== "" && calls.length === 0 && correction === undefined) this.#listener.text(text);
  }

  #addPiece(piece: string): void {
    if (this.#part === "answer") this.#listener.text(piece);
    else if (this.#part === "answer-marker") this.#beginAnswer(piece);
    else if (this.#part === "action") this.#think(piece);
    else if (this.#part === "unclear") this.#addUnclear(piece);
    else {
      this.#think(piece);
      if (piece.endsWith("\n")) this.#part = "unclear";
    }
  }

  #addUnclear(piece: string): void {
    const line = this.#line === "" ? piece.trimStart() : piece;
    this.#blanks += piece.slice(0, piece.length - line.length);
    if (line !== "") this.#classify(this.#line + line);
  }

  #classify(line: string): void {
    const marker = answerBegins.exec(line)?.[0];
    if (marker !== undefined) {
      this.#part = "answer-marker";
      this.#blanks += marker;
      this.#line = "";
      this.#beginAnswer(line.slice(marker.length));
    } else if (actionBegins.test(line)) this.#decide("action", line);
    else if (line.endsWith("\n")) this.#decide("unclear", line);
    else if (line.length > maxMarkerLength) this.#decide("thought", line);
    else this.#line = line;
  }

  // The answer begins with its first character that is not blank.
  #beginAnswer(piece: string): void {
    const text = piece.trimStart();
    if (text === "") {
      this.#blanks += piece;
      return;
    }
    this.#part = "answer";
    this.#blanks = "";
    this.#listener.text(text);
  }

  #decide(part: "unclear" | "thought" | "action", line: string): void {
    this.#think(this.#blanks + line);
    this.#part = part;
    this.#blanks = "";
    this.#line = "";
  }

  #think(text: string): void {
    if (text !== "") this.#listener.reasoning(text);
  }
}
