// The model port: the AI SDK's LanguageModelV4 as types of our own. Any V4 provider object fits.
// Providers add types of parts: no switch over them is exhaustive, and unknown ones are ignored.
import type { CallSettings, ProviderData } from "./model-settings.ts";
import type { SupportedUrls } from "./provider-rules.ts";

interface WithOptions {
  providerOptions?: ProviderData;
}

export type FileData =
  | { type: "data"; data: string | Uint8Array }
  | { type: "url"; url: URL }
  | { type: "text"; text: string };

export interface PromptText extends WithOptions {
  type: "text";
  text: string;
}

export interface PromptFile extends WithOptions {
  type: "file";
  filename?: string;
  data: FileData;
  mediaType: string;
}

export interface PromptReasoning extends WithOptions {
  type: "reasoning";
  text: string;
}

export interface PromptToolCall extends WithOptions {
  type: "tool-call";
  toolCallId: string;
  toolName: string;
  /** The parsed arguments. */
  input: unknown;
}

export interface PromptToolResult extends WithOptions {
  type: "tool-result";
  toolCallId: string;
  toolName: string;
  output:
    | { type: "text"; value: string }
    | { type: "error-text"; value: string }
    | { type: "content"; value: (PromptText | PromptFile)[] };
}

export type PromptMessage = WithOptions &
  (
    | { role: "system"; content: string }
    | { role: "user"; content: (PromptText | PromptFile)[] }
    | { role: "assistant"; content: (PromptText | PromptFile | PromptReasoning | PromptToolCall)[] }
    | { role: "tool"; content: PromptToolResult[] }
  );

/** A tool that the provider runs itself. */
export interface HostedModelTool {
  type: "provider";
  id: `${string}.${string}`;
  name: string;
  args: Record<string, unknown>;
}

export interface ModelTool extends WithOptions {
  type: "function";
  name: string;
  description?: string;
  inputSchema: { [key: string]: unknown };
  strict?: boolean;
}

export interface ModelCallOptions extends CallSettings {
  prompt: PromptMessage[];
  tools?: (ModelTool | HostedModelTool)[];
  responseFormat?: { type: "text" } | { type: "json"; schema?: { [key: string]: unknown }; name?: string };
  abortSignal?: AbortSignal;
}

/** A part of a reply. The `input` of a tool call is JSON text, and may be invalid. */
export interface ModelContent {
  type: string;
  text?: string;
  toolCallId?: string;
  toolName?: string;
  input?: unknown;
  providerExecuted?: boolean;
  providerMetadata?: ProviderData;
}

export interface ModelFinishReason {
  unified: string;
  raw?: string | undefined;
}

export interface ModelUsage {
  inputTokens: { total: number | undefined; cacheRead?: number | undefined; cacheWrite?: number | undefined };
  outputTokens: { total: number | undefined; reasoning?: number | undefined };
}

export interface ModelWarning {
  type: string;
}

export interface ModelResult {
  content: readonly ModelContent[];
  finishReason: ModelFinishReason;
  usage: ModelUsage;
  warnings?: readonly ModelWarning[];
  providerMetadata?: ProviderData;
  response?: { id?: string; modelId?: string };
}

/** A part of a streamed reply. Its fields depend on its type. */
export interface ModelStreamPart {
  type: string;
  /** The kind of a `custom` part. */
  kind?: string;
  id?: string;
  delta?: string;
  toolName?: string;
  toolCallId?: string;
  input?: unknown;
  error?: unknown;
  finishReason?: ModelFinishReason;
  usage?: ModelUsage;
  providerMetadata?: ProviderData;
  modelId?: string;
}

interface StreamReader {
  read(): PromiseLike<{ done: boolean; value?: unknown }>;
  cancel(reason?: unknown): PromiseLike<void>;
}

/** The parts of a reply: a web stream, as AI SDK providers return it, or any async iterable. */
export type ModelStream = { getReader(): StreamReader } | AsyncIterable<unknown>;

/**
 * A language model.
 *
 * **Contract:** `doGenerate` and `doStream` give the same reply for the same options. Both honour `abortSignal` and never
 * change `prompt`. A failure is a rejection, or a stream part of type `error`.
 */
export interface Model {
  readonly specificationVersion: "v4";
  readonly provider: string;
  readonly modelId: string;
  /** The URLs that it fetches itself, by media type. Undefined: all. */
  readonly supportedUrls?: SupportedUrls | PromiseLike<SupportedUrls>;
  doGenerate(options: ModelCallOptions): PromiseLike<ModelResult>;
  doStream(options: ModelCallOptions): PromiseLike<{ stream: ModelStream }>;
}

/** A model of an earlier AI SDK generation. `adaptModel` turns it into a `Model`. */
export interface LegacyModel {
  readonly specificationVersion: "v2" | "v3";
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls?: SupportedUrls | PromiseLike<SupportedUrls>;
  // biome-ignore lint/suspicious/noExplicitAny: the older generations differ in detail; the adapter translates at run time
  doGenerate(options: any): PromiseLike<unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  doStream(options: any): PromiseLike<{ stream: ModelStream }>;
}

/** Any model an agent takes. */
export type AnyModel = Model | LegacyModel;
