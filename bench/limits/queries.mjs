// How fast plain JavaScript searches and sums up a million messages.
import { milliseconds } from "./timing.mjs";

/** The measurements, on the same `messages`. */
export function queryLimits(messages) {
  const roles = roleColumn(messages);
  const toolIndexes = indexesOf(messages, "tool");
  const some = messages.slice(0, messages.length / 10);
  const measure = (name, work) => ({ name, unit: "ms", repeats: 7, run: () => milliseconds(work) });
  return [
    measure("filter by role, for loop, 100k", () => filterRole(some).length),
    measure("filter by role, Array.filter, 100k", () => some.filter((message) => message.role === "tool").length),
    measure("filter by role, for loop, 1M", () => filterRole(messages).length),
    measure("count a role, 1M", () => countRole(messages)),
    measure("count a role in a Uint8Array, 1M", () => countCode(roles, 2)),
    measure("filter by role from an index, 1M", () => toolIndexes.map((index) => messages[index]).length),
    measure("filter by tool name, calls and results, 1M", () => filterToolName(messages, "search").length),
    measure("count texts, toLowerCase().includes, 100k", () => countTexts(some, includesError)),
    measure("count texts, regex /i, 100k", () => countTexts(some, matchesError)),
    measure("count texts, regex /i, 1M", () => countTexts(messages, matchesError)),
    measure("stats by role, chars / 4, 1M", () => statsByRole(messages).tool.messages),
    measure("timeline, 1M", () => timeline(messages).length),
  ];
}

function roleColumn(messages) {
  const codes = { user: 0, assistant: 1, tool: 2 };
  return Uint8Array.from(messages, (message) => codes[message.role]);
}

function indexesOf(messages, role) {
  const indexes = [];
  for (let index = 0; index < messages.length; index++) {
    if (messages[index].role === role) {
      indexes.push(index);
    }
  }
  return indexes;
}

function filterRole(messages) {
  const found = [];
  for (let index = 0; index < messages.length; index++) {
    if (messages[index].role === "tool") {
      found.push(messages[index]);
    }
  }
  return found;
}

function countRole(messages) {
  let count = 0;
  for (let index = 0; index < messages.length; index++) {
    if (messages[index].role === "tool") {
      count++;
    }
  }
  return count;
}

function countCode(codes, wanted) {
  let count = 0;
  for (let index = 0; index < codes.length; index++) {
    if (codes[index] === wanted) {
      count++;
    }
  }
  return count;
}

function filterToolName(messages, name) {
  const found = [];
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index];
    if (message.name === name || message.tool_calls?.some((call) => call.function.name === name)) {
      found.push(message);
    }
  }
  return found;
}

const ERROR = /error/i;

function matchesError(text) {
  return ERROR.test(text);
}

function includesError(text) {
  return text.toLowerCase().includes("error");
}

function countTexts(messages, matches) {
  let count = 0;
  for (let index = 0; index < messages.length; index++) {
    const { content } = messages[index];
    if (content && matches(content)) {
      count++;
    }
  }
  return count;
}

function statsByRole(messages) {
  const stats = {};
  for (let index = 0; index < messages.length; index++) {
    const { role, content } = messages[index];
    stats[role] ??= { messages: 0, tokens: 0 };
    stats[role].messages++;
    stats[role].tokens += content ? content.length >> 2 : 10;
  }
  return stats;
}

function timeline(messages) {
  const turns = [];
  for (let index = 0; index < messages.length; index++) {
    const message = messages[index];
    if (message.role === "user") {
      turns.push({ index: turns.length, user: message.content, assistant: null, tools: [] });
    } else {
      addToTurn(turns.at(-1), message);
    }
  }
  return turns;
}

function addToTurn(turn, message) {
  if (message.role === "tool") {
    const latest = turn.tools.at(-1);
    if (latest) {
      latest.result = message.content;
    }
    return;
  }
  if (message.tool_calls === undefined) {
    turn.assistant = message.content;
    return;
  }
  for (const call of message.tool_calls) {
    turn.tools.push({ id: call.id, name: call.function.name, args: call.function.arguments, result: null });
  }
}
