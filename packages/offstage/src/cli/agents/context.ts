// The context of runs that the command line starts or continues: values that the tools of an agent need.
import { isObject, type JsonObject, parseJson } from "../../base/json.ts";
import { UsageError } from "../arguments.ts";

export const contextOption = {
  type: "string",
  value: "json",
  text: `the context that the agent's tools read, as run(input, { context }) takes it: '{"userId":"anna"}'`,
} as const;

/** The values of `--context`; undefined if it was left out. */
export function readContext(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined;
  const values = parseJson(text);
  if (isObject(values)) return values as JsonObject;
  throw new UsageError(`--context takes a JSON object, such as '{"userId":"anna"}'; found "${text}".`);
}
