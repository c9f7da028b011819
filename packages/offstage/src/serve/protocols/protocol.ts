// A protocol: how a client posts, and how events and messages are written for it. One file each; index.ts lists them.
import type { JsonValue } from "../../base/json.ts";
import type { UserMessage } from "../../messages/message.ts";
import type { ServedEvent, ServedMessage } from "../telling/served-event.ts";

/** A decision about a call that waits, under the id by which the client knows the call. */
export type PostedDecision = { readonly toolCallId: string } & (
  | { readonly approve: true; readonly input?: JsonValue | undefined }
  | { readonly reject: true; readonly reason?: string | undefined }
  | { readonly answer: JsonValue }
);

/** The request of a client. Nothing else of a body counts. */
export type PostedAction =
  | { readonly type: "message"; readonly message: UserMessage }
  | { readonly type: "regenerate"; readonly runId: string | undefined }
  | {
      readonly type: "decisions";
      readonly decisions: readonly PostedDecision[];
      /** The run that the client believes to decide about. */
      readonly runId: string | undefined;
    };

export interface Posted {
  readonly sessionId: string;
  /** The client's own name for this request, if the protocol has one. */
  readonly requestId?: string | undefined;
  readonly action: PostedAction;
}

/** The session and the request of a stream. */
export interface StreamPlace {
  readonly sessionId: string;
  readonly requestId?: string | undefined;
}

/** Writes events for one reader. Keeps what is open, so each reader has its own. */
export type Encode = (event: ServedEvent) => readonly object[];

export interface Protocol {
  readonly headers: Readonly<Record<string, string>>;
  /** Sent after the last event. */
  readonly closing: string;
  encoder(place: StreamPlace): Encode;
  /** Reads a body. Throws a `RefusedRequest` for anything that the protocol does not allow. */
  read(body: Record<string, unknown>): Posted;
  /** The body of `GET /:id`. */
  conversation(messages: readonly ServedMessage[]): unknown;
}
