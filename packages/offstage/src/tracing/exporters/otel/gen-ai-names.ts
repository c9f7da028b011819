// The names of OpenTelemetry's GenAI conventions, in one place because they still change.

/** The operation name of each span kind. */
export const operations: Readonly<Record<string, string>> = {
  run: "invoke_agent",
  subagent: "invoke_agent",
  model: "chat",
  tool: "execute_tool",
};

/** The operation name of a trace opened with `withTrace`. */
export const workflowOperation = "invoke_workflow";

/** The attribute of each metadata key. Other keys are exported as `offstage.<key>`. */
export const attributeNames: Readonly<Record<string, string>> = {
  agent: "gen_ai.agent.name",
  agentId: "gen_ai.agent.id",
  provider: "gen_ai.provider.name",
  model: "gen_ai.request.model",
  temperature: "gen_ai.request.temperature",
  maxOutputTokens: "gen_ai.request.max_tokens",
  topP: "gen_ai.request.top_p",
  topK: "gen_ai.request.top_k",
  presencePenalty: "gen_ai.request.presence_penalty",
  frequencyPenalty: "gen_ai.request.frequency_penalty",
  seed: "gen_ai.request.seed",
  stopSequences: "gen_ai.request.stop_sequences",
  stream: "gen_ai.request.stream",
  outputType: "gen_ai.output.type",
  responseId: "gen_ai.response.id",
  responseModel: "gen_ai.response.model",
  finishReason: "gen_ai.response.finish_reasons",
  timeToFirstTokenMs: "gen_ai.response.time_to_first_chunk",
  tool: "gen_ai.tool.name",
  toolCallId: "gen_ai.tool.call.id",
  toolType: "gen_ai.tool.type",
  toolDescription: "gen_ai.tool.description",
  errorType: "error.type",
};

/** The attribute of each field of `metadata.usage`. */
export const usageNames: Readonly<Record<string, string>> = {
  inputTokens: "gen_ai.usage.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  cachedInputTokens: "gen_ai.usage.cache_read.input_tokens",
  cacheWriteTokens: "gen_ai.usage.cache_creation.input_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
};

/** The attribute of each content field. */
export const contentNames = {
  inputMessages: "gen_ai.input.messages",
  outputMessages: "gen_ai.output.messages",
  instructions: "gen_ai.system_instructions",
  tools: "gen_ai.tool.definitions",
  inputText: "gen_ai.tool.call.arguments",
  output: "gen_ai.tool.call.result",
} as const;

/** The well-known provider names, by the first word of the provider ids of the AI SDK. */
export const providerNames: Readonly<Record<string, string>> = {
  "amazon-bedrock": "aws.bedrock",
  azure: "azure.ai.openai",
  "azure-openai": "azure.ai.openai",
  "google.generative-ai": "gcp.gemini",
  "google.vertex": "gcp.vertex_ai",
  google: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  mistral: "mistral_ai",
  moonshotai: "moonshot_ai",
  xai: "x_ai",
};

/** The finish reasons of output messages that have another name here. */
export const finishReasons: Readonly<Record<string, string>> = {
  "tool-calls": "tool_call",
  "content-filter": "content_filter",
};

/** A metric: a histogram with the buckets that the conventions recommend. */
export interface HistogramName {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly boundaries: readonly number[];
}

export const durationMetric: HistogramName = {
  name: "gen_ai.client.operation.duration",
  description: "The duration of a model call, retries included.",
  unit: "s",
  boundaries: Array.from({ length: 14 }, (_, power) => 2 ** power / 100),
};

export const tokenMetric: HistogramName = {
  name: "gen_ai.client.token.usage",
  description: "The tokens of a model call, by type.",
  unit: "{token}",
  boundaries: Array.from({ length: 14 }, (_, power) => 4 ** power),
};

/** The attributes of a model span that its metrics have, too. */
export const metricAttributes: readonly string[] = [
  "gen_ai.operation.name",
  "gen_ai.provider.name",
  "gen_ai.request.model",
  "gen_ai.response.model",
  "error.type",
];

/** The other attribute names. */
export const names = {
  operation: "gen_ai.operation.name",
  workflow: "gen_ai.workflow.name",
  agent: "gen_ai.agent.name",
  model: "gen_ai.request.model",
  tool: "gen_ai.tool.name",
  conversation: "gen_ai.conversation.id",
  tokenType: "gen_ai.token.type",
  error: "error.type",
  own: "offstage",
} as const;
