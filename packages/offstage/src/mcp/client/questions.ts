// Questions of a server to a person: the run waits for the answer, and goes on from it, in this process or another.
import { isObject, type JsonObject, type JsonValue } from "../../base/json.ts";
import type { ToolRunOptions } from "../../tools/tool.ts";
import type { CallResult } from "./call-result.ts";
import type { CallOptions, InputRequired, McpConnection, ToolRequest } from "./connection.ts";
import { formSchema, promptText } from "./definitions.ts";

// A server that asks more often than this does not want an answer.
const maxRounds = 20;
const maxMessage = 4000;

/** The state that is kept with a question: enough to complete the call with a new connection. */
interface RoundState {
  /** The round of the protocol, from 0. */
  readonly round: number;
  readonly inputRequests: JsonObject;
  readonly requestState?: string;
}

interface Form {
  readonly message?: unknown;
  readonly requestedSchema?: unknown;
}

type Response = Record<string, unknown>;

/** The result of a call, with all questions answered. Never resolves if the run has to wait: the tool then runs again. */
export async function callWithQuestions(
  connection: McpConnection,
  request: ToolRequest,
  options: Omit<CallOptions, "elicit"> & Pick<ToolRunOptions, "ask" | "asked">,
): Promise<CallResult> {
  const { ask, asked } = options;
  const last = asked.at(-1)?.state;
  const known = isRoundState(last) ? last : undefined;
  const earlier =
    known === undefined ? asked : asked.filter(({ state }) => isRoundState(state) && state.round < known.round);
  // Answers are given in the order of the questions, so those before have to be asked for too.
  const answers: unknown[] = [];
  for (const { message } of earlier) answers.push(await ask({ message }));
  let next: CallResult | InputRequired;
  if (known === undefined) next = await callOpen(connection, request, { ...options, answers });
  else next = { ...(known as object), resultType: "input_required" } as InputRequired;
  for (let round = known?.round ?? 0; isInputRequired(next); round++) {
    if (round >= maxRounds) throw new Error(`The server asked more than ${maxRounds} times.`);
    const { inputRequests = {}, requestState } = next;
    const state = { round, inputRequests, ...(requestState !== undefined && { requestState }) };
    const inputResponses = await respond(inputRequests, state as unknown as JsonValue, ask);
    const answered = { ...request, inputResponses, ...(requestState !== undefined && { requestState }) };
    next = await connection.call(answered, { ...options, elicit: undefined });
  }
  return next;
}

function isInputRequired(result: CallResult | InputRequired): result is InputRequired {
  return (result as InputRequired).resultType === "input_required";
}

function isRoundState(state: unknown): state is RoundState {
  return isObject(state) && typeof state.round === "number" && isObject(state.inputRequests);
}

async function respond(
  requests: NonNullable<InputRequired["inputRequests"]>,
  state: JsonValue,
  ask: ToolRunOptions["ask"],
): Promise<Record<string, Response>> {
  const responses: Record<string, Response> = {};
  for (const [key, { method, params }] of Object.entries(requests)) {
    if (method !== "elicitation/create")
      throw new Error(`The server asks for ${promptText(method, 100)}, which is not offered.`);
    const form = (params ?? {}) as Form;
    responses[key] = responseOf(await ask({ ...questionOf(form), state }), form);
  }
  return responses;
}

/**
 * Calls a tool that may ask while the call is open, as in the old protocol. If there is an answer at once, the call continues. It cannot
 * wait for days: then it is cancelled, and made again with the answer.
 */
async function callOpen(
  connection: McpConnection,
  request: ToolRequest,
  {
    answers,
    ask,
    ...options
  }: Omit<CallOptions, "elicit"> & Pick<ToolRunOptions, "ask"> & { readonly answers: unknown[] },
): Promise<CallResult | InputRequired> {
  const wait = new AbortController();
  const onWait = (): void => wait.abort();
  let count = 0;
  const elicit = async (params: unknown): Promise<Response> => {
    const form = (params ?? {}) as Form;
    if (count === answers.length) answers.push(await ask({ ...questionOf(form), onWait }));
    return responseOf(answers[count++], form);
  };
  const signal = AbortSignal.any([options.signal, wait.signal]);
  try {
    return await connection.call(request, { ...options, signal, elicit });
  } catch (error) {
    // The tool runs again, so this call has no result.
    return wait.signal.aborted && !options.signal.aborted ? new Promise(() => {}) : Promise.reject(error);
  }
}

function questionOf({ message, requestedSchema }: Form): {
  readonly message: string;
  readonly schema?: Record<string, unknown>;
} {
  const shown = promptText(String(message ?? ""), maxMessage).trim() || "The server asks for input.";
  const schema = formSchema(requestedSchema);
  return { message: shown, ...(schema !== undefined && { schema }) };
}

// Fields that the person left out get their defaults.
function responseOf(answer: unknown, { requestedSchema }: Form): Response {
  if (isObject(answer) && answer.declined === true) return { action: "decline" };
  const properties =
    isObject(requestedSchema) && isObject(requestedSchema.properties) ? requestedSchema.properties : {};
  const defaults = Object.entries(properties).flatMap(([name, property]) =>
    isObject(property) && property.default !== undefined ? [[name, property.default] as const] : [],
  );
  return { action: "accept", content: { ...Object.fromEntries(defaults), ...(isObject(answer) ? answer : {}) } };
}
