// Holds spans and metrics against a table of OpenTelemetry's GenAI conventions, and lists what does not follow them.
import type { ReceivedSpan } from "./otlp-receiver.ts";

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === "string" && value !== "";
const number: Check = (value) => typeof value === "number" && Number.isFinite(value);
const count: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const flag: Check = (value) => typeof value === "boolean";
const texts: Check = (value) => Array.isArray(value) && value.every((each) => typeof each === "string");
const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.includes(value as string);
const json =
  (check: Check): Check =>
  (value) => {
    try {
      return check(JSON.parse(value as string));
    } catch {
      return false;
    }
  };

const parts: Readonly<Record<string, Check>> = {
  text: (part) => typeof fieldsOf(part).content === "string",
  reasoning: (part) => typeof fieldsOf(part).content === "string",
  tool_call: (part) => text(fieldsOf(part).name),
  tool_call_response: (part) => "response" in fieldsOf(part),
};
const isPart: Check = (part) => {
  const { type } = fieldsOf(part);
  return text(type) && (parts[type as string]?.(part) ?? true);
};
const isMessage: Check = (message) => {
  const { role, parts: list } = fieldsOf(message);
  return text(role) && Array.isArray(list) && list.every(isPart);
};
const isOutput: Check = (message) =>
  isMessage(message) &&
  oneOf("stop", "length", "content_filter", "tool_call", "error")(fieldsOf(message).finish_reason);

const every =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** Every attribute that we send, and what its value must be. Our own begin with "offstage.". */
const attributes: Readonly<Record<string, Check>> = {
  "gen_ai.operation.name": oneOf("invoke_agent", "invoke_workflow", "chat", "execute_tool"),
  "gen_ai.provider.name": text,
  "gen_ai.agent.name": text,
  "gen_ai.agent.id": text,
  "gen_ai.workflow.name": text,
  "gen_ai.conversation.id": text,
  "gen_ai.output.type": oneOf("text", "json", "image", "speech"),
  "gen_ai.request.model": text,
  "gen_ai.request.temperature": number,
  "gen_ai.request.max_tokens": count,
  "gen_ai.request.top_p": number,
  "gen_ai.request.top_k": number,
  "gen_ai.request.presence_penalty": number,
  "gen_ai.request.frequency_penalty": number,
  "gen_ai.request.seed": count,
  "gen_ai.request.stop_sequences": texts,
  "gen_ai.request.stream": flag,
  "gen_ai.response.id": text,
  "gen_ai.response.model": text,
  "gen_ai.response.finish_reasons": texts,
  "gen_ai.response.time_to_first_chunk": number,
  "gen_ai.usage.input_tokens": count,
  "gen_ai.usage.output_tokens": count,
  "gen_ai.usage.cache_read.input_tokens": count,
  "gen_ai.usage.cache_creation.input_tokens": count,
  "gen_ai.usage.reasoning.output_tokens": count,
  "gen_ai.token.type": oneOf("input", "output"),
  "gen_ai.tool.name": text,
  "gen_ai.tool.type": oneOf("function", "extension", "datastore"),
  "gen_ai.tool.description": text,
  "gen_ai.tool.call.id": text,
  "gen_ai.tool.call.arguments": text,
  "gen_ai.tool.call.result": text,
  "gen_ai.input.messages": json(every(isMessage)),
  "gen_ai.output.messages": json(every(isOutput)),
  "error.type": text,
};

interface SpanRule {
  /** 1 internal, 3 client. */
  readonly kind: number;
  /** The attribute that the name ends with. */
  readonly subject: string;
  readonly required: readonly string[];
}

const operations: Readonly<Record<string, SpanRule>> = {
  invoke_agent: {
    kind: 1,
    subject: "gen_ai.agent.name",
    required: ["gen_ai.provider.name", "gen_ai.request.model"],
  },
  invoke_workflow: { kind: 1, subject: "gen_ai.workflow.name", required: [] },
  chat: { kind: 3, subject: "gen_ai.request.model", required: ["gen_ai.provider.name"] },
  execute_tool: { kind: 1, subject: "gen_ai.tool.name", required: ["gen_ai.tool.call.id", "gen_ai.tool.type"] },
};

/** What does not follow the conventions; empty if everything does. */
export function spanViolations(spans: readonly ReceivedSpan[]): string[] {
  return [...spans.flatMap(violationsOf), ...conversationViolations(spans)];
}

function violationsOf(span: ReceivedSpan): string[] {
  const { name, kind, statusCode, attributes: given } = span;
  const operation = String(given["gen_ai.operation.name"] ?? "");
  const rule = operations[operation];
  const hasError = "error.type" in given;
  return [
    ...attributeViolations(name, given),
    ...(rule === undefined && Object.keys(given).some((key) => key.startsWith("gen_ai.") && key !== conversation)
      ? [`${name}: GenAI attributes without an operation`]
      : []),
    ...(rule !== undefined && kind !== rule.kind ? [`${name}: kind ${kind}`] : []),
    ...(rule !== undefined && name !== `${operation} ${given[rule.subject]}` ? [`${name}: is not its name`] : []),
    ...(rule?.required ?? []).filter((key) => !(key in given)).map((key) => `${name}: without ${key}`),
    ...(hasError !== (statusCode === 2) ? [`${name}: error.type and status ${statusCode}`] : []),
  ];
}

const conversation = "gen_ai.conversation.id";

function attributeViolations(name: string, given: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(given).flatMap(([key, value]) => {
    if (key.startsWith("offstage.")) return [];
    const check = attributes[key];
    if (check === undefined) return [`${name}: unknown attribute ${key}`];
    return check(value) ? [] : [`${name}: ${key} = ${JSON.stringify(value)}`];
  });
}

function conversationViolations(spans: readonly ReceivedSpan[]): string[] {
  return [...Map.groupBy(spans, ({ traceId }) => traceId)].flatMap(([traceId, all]) => {
    const ids = new Set(all.flatMap((span) => span.attributes[conversation] ?? []));
    return ids.size > 1 ? [`trace ${traceId}: conversations ${[...ids].join(", ")}`] : [];
  });
}

/** A histogram as both versions of the SDK collect it. */
export interface CollectedMetric {
  readonly descriptor: { readonly name: string; readonly unit: string };
  readonly dataPoints: readonly {
    readonly attributes: Readonly<Record<string, unknown>>;
    readonly value: {
      readonly count: number;
      readonly sum?: number;
      readonly buckets?: { readonly boundaries: readonly number[] };
    };
  }[];
}

const always = ["gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model"];
const optional = ["gen_ai.response.model", "error.type"];
const metrics: Readonly<Record<string, { unit: string; first: number; required: string[] }>> = {
  "gen_ai.client.operation.duration": { unit: "s", first: 0.01, required: always },
  "gen_ai.client.token.usage": { unit: "{token}", first: 1, required: [...always, "gen_ai.token.type"] },
};

/** What does not follow the conventions for metrics; empty if everything does. */
export function metricViolations(collected: readonly CollectedMetric[]): string[] {
  return collected.flatMap(({ descriptor: { name, unit }, dataPoints }) => {
    const rule = metrics[name];
    if (rule === undefined) return [`unknown metric ${name}`];
    return [
      ...(unit === rule.unit ? [] : [`${name}: unit ${unit}`]),
      ...dataPoints.flatMap(({ attributes: given, value }) => [
        ...attributeViolations(name, given),
        ...rule.required.filter((key) => !(key in given)).map((key) => `${name}: without ${key}`),
        ...Object.keys(given)
          .filter((key) => !rule.required.includes(key) && !optional.includes(key))
          .map((key) => `${name}: has ${key}`),
        ...(value.buckets?.boundaries.length === 14 && value.buckets.boundaries[0] === rule.first
          ? []
          : [`${name}: other buckets`]),
      ]),
    ];
  });
}
