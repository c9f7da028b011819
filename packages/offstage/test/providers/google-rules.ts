// The requests that the Gemini API refuses, according to its reference and its error messages.
import type { FakeRequest, Json } from "./fake-provider.ts";
import { isBase64 } from "./openai-rules.ts";

interface Content {
  readonly role: string;
  readonly parts: readonly Json[];
}

/** Returns the first rule that a request breaks, or undefined. */
export function googleProblem({ body, headers }: FakeRequest): string | undefined {
  const contents = body.contents as readonly Content[];
  if (headers["x-goog-api-key"] === undefined) return "API key not valid.";
  if (!Array.isArray(contents) || contents.length === 0)
    return "GenerateContentRequest.contents: contents is not specified";
  return (
    contents.map(contentProblem).find((problem) => problem !== undefined) ??
    orderProblem(contents) ??
    toolsProblem(body.tools as readonly Json[] | undefined)
  );
}

function contentProblem({ role, parts }: Content): string | undefined {
  if (role !== "user" && role !== "model") return "Please use a valid role: user, model.";
  if (!Array.isArray(parts) || parts.length === 0) return "contents.parts must not be empty.";
  return parts.map(partProblem).find((problem) => problem !== undefined);
}

function partProblem(part: Json): string | undefined {
  const { text, inlineData, fileData, functionCall, functionResponse } = part as Record<string, Json> & {
    text?: unknown;
  };
  if (text !== undefined)
    return text === "" ? "required oneof field 'data' must have one initialized field" : undefined;
  if (inlineData !== undefined) return dataProblem(inlineData);
  if (fileData !== undefined)
    return isMediaType(fileData.mimeType) ? undefined : `Unsupported MIME type: ${fileData.mimeType}`;
  const called = functionCall ?? functionResponse;
  if (called === undefined) return "required oneof field 'data' must have one initialized field";
  return isFunctionName(called.name) ? undefined : `Invalid function name: ${called.name}`;
}

function dataProblem({ mimeType, data }: Json): string | undefined {
  return isMediaType(mimeType) && isBase64(String(data)) ? undefined : `Unsupported MIME type: ${mimeType}`;
}

function isMediaType(value: unknown): boolean {
  return /^[a-z]+\/[a-z0-9.+-]+$/.test(String(value));
}

function isFunctionName(name: unknown): boolean {
  return /^[A-Za-z_][A-Za-z0-9_.:-]{0,63}$/.test(String(name));
}

function orderProblem(contents: readonly Content[]): string | undefined {
  if (contents[0]?.role !== "user") return "Please ensure that the first turn is a user turn.";
  for (const [index, { role, parts }] of contents.entries()) {
    const answers = parts.filter((part) => "functionResponse" in part).length;
    const before = contents[index - 1];
    const open = before?.role === "model" ? before.parts.filter((part) => "functionCall" in part).length : 0;
    if (answers !== open)
      return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
    if (role === "model" && parts.some((part) => "functionCall" in part) && before?.role !== "user")
      return "Please ensure that function call turn comes immediately after a user turn or after a function response turn.";
  }
  return contents.at(-1)?.role === "user" ? undefined : "Please ensure that the last turn is a user turn.";
}

function toolsProblem(tools: readonly Json[] | undefined): string | undefined {
  const declared = (tools ?? []).flatMap(({ functionDeclarations }) => (functionDeclarations ?? []) as readonly Json[]);
  const bad = declared.find(({ name }) => !isFunctionName(name));
  return bad === undefined ? undefined : `Invalid function name: ${bad.name}`;
}
