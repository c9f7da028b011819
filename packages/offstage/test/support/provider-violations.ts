// The messages that providers refuse, written from the design document. Shares no code with src/.

type Fields = Record<string, unknown>;

/** Returns everything a provider would refuse in the list. */
export function providerViolations(list: readonly unknown[]): string[] {
  const walk: Walk = { problems: [], used: new Set(), owed: [] };
  for (const [index, message] of list.entries()) {
    const found = isFields(message) ? checkMessage(message, walk) : ["is not a message"];
    walk.problems.push(...found.map((problem) => `${index}: ${problem}`));
  }
  return walk.owed.length === 0 ? walk.problems : [...walk.problems, `end: no result of ${walk.owed.join()}`];
}

interface Walk {
  readonly problems: string[];
  readonly used: Set<unknown>;
  /** The calls of the latest assistant message that have no result yet. */
  owed: unknown[];
}

function checkMessage(message: Fields, walk: Walk): string[] {
  switch (message.role) {
    case "tool":
      return [...checkResult(message, walk), ...checkContent(message)];
    case "system":
    case "user":
      return [...checkOwed(walk), ...checkContent(message)];
    case "assistant":
      return [...checkOwed(walk), ...checkAssistant(message, walk)];
    default:
      return ["has an unknown role"];
  }
}

function checkResult({ tool_call_id: id }: Fields, walk: Walk): string[] {
  const isOwed = walk.owed.includes(id);
  walk.owed = walk.owed.filter((each) => each !== id);
  return isOwed ? [] : ["is a result without its call right before it"];
}

function checkOwed(walk: Walk): string[] {
  const { owed } = walk;
  walk.owed = [];
  return owed.length === 0 ? [] : [`comes before the results of ${owed.join()}`];
}

function checkContent({ content }: Fields): string[] {
  return isReadable(content) ? [] : ["has no readable content"];
}

function checkAssistant(message: Fields, walk: Walk): string[] {
  const { content } = message;
  const problems = content === undefined || content === null ? [] : checkContent(message);
  if (!("tool_calls" in message))
    return saysSomething(content) ? problems : [...problems, "has neither text nor calls"];
  const calls = message.tool_calls;
  if (!Array.isArray(calls) || calls.length === 0) return [...problems, "has an empty list of calls"];
  return [...problems, ...calls.flatMap((call) => checkCall(call, walk))];
}

function checkCall(call: unknown, walk: Walk): string[] {
  if (!isFields(call) || !isFields(call.function)) return ["has a call that is not an object"];
  const { name, arguments: text } = call.function;
  const rules: [boolean, string][] = [
    [typeof call.id === "string" && call.id.length > 0, "has a call without an id"],
    [!walk.used.has(call.id), `repeats the id ${call.id}`],
    [call.type === "function", "has a call that is not a function call"],
    [typeof name === "string" && name.length > 0, "has a call without a name"],
    [typeof text === "string" && /^\s*\{/.test(text) && isJson(text), "has arguments that are not a JSON object"],
  ];
  walk.used.add(call.id);
  walk.owed.push(call.id);
  return rules.filter(([holds]) => !holds).map(([, problem]) => problem);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function isReadable(content: unknown): boolean {
  return typeof content === "string" || (Array.isArray(content) && content.every(isFields));
}

function saysSomething(content: unknown): boolean {
  if (typeof content === "string") return content.trim().length > 0;
  return Array.isArray(content) && content.some((part) => part?.type !== "text" || part.text?.trim() !== "");
}
