// How fast the engine turns messages into JSON and back, and clones them.
import { megabytesPerSecond } from "./timing.mjs";

const MESSAGES = 2000;

/** The measurements, on messages made of `texts`. */
export function jsonLimits(texts) {
  const messages = texts.slice(0, MESSAGES).map(messageOf);
  const lines = messages.map((message) => JSON.stringify(message));
  const array = JSON.stringify(messages);
  const bytes = lines.reduce((total, line) => total + Buffer.byteLength(line), 0);
  const measure = (name, work) => ({ name, unit: "MB/s", run: () => megabytesPerSecond(bytes, work) });
  return [
    measure("JSON.stringify, message by message", () => total(messages, (message) => JSON.stringify(message).length)),
    measure("JSON.parse, message by message", () => total(lines, (line) => JSON.parse(line).role.length)),
    measure("JSON.stringify, one array", () => JSON.stringify(messages).length),
    measure("JSON.parse, one array", () => JSON.parse(array).length),
    measure("structuredClone", () => total(messages, (message) => structuredClone(message).role.length)),
  ];
}

function messageOf(content, index) {
  const role = index % 2 === 1 ? "assistant" : "user";
  return { role, content, id: `m${index}`, createdAt: 1.7e12 + index, usage: { in: 10, out: 5 } };
}

function total(values, numberOf) {
  let sum = 0;
  for (const value of values) {
    sum += numberOf(value);
  }
  return sum;
}
