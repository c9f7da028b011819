// Generated histories: valid conversations, and conversations damaged in the ways seen in practice.
import fc from "fast-check";
import { assistant, system, toolCall, toolResult, user } from "../../src/messages/makers.ts";
import type { Message } from "../../src/messages/message.ts";

interface Round {
  readonly text: string | null;
  readonly inputs: readonly unknown[];
}

interface Turn {
  readonly question: string;
  readonly rounds: readonly Round[];
  readonly answer: string;
}

const word = fc.constantFrom("alpha", "beta", "gamma", "δ", "🙂");
const round: fc.Arbitrary<Round> = fc.record({
  text: fc.option(word),
  inputs: fc.array(fc.constantFrom({}, { city: "Paris" }, { n: 1 }), { minLength: 1, maxLength: 3 }),
});
const turn: fc.Arbitrary<Turn> = fc.record({
  question: word,
  rounds: fc.array(round, { maxLength: 3 }),
  answer: word,
});

/** Conversations that every provider accepts. */
export const validHistories: fc.Arbitrary<Message[]> = fc
  .record({ isInstructed: fc.boolean(), turns: fc.array(turn, { maxLength: 4 }) })
  .map(({ isInstructed, turns }) => {
    let count = 0;
    const messages: Message[] = isInstructed ? [system("be kind")] : [];
    for (const { question, rounds, answer } of turns) {
      messages.push(user(question));
      for (const { text, inputs } of rounds) {
        const toolCalls = inputs.map((input) => toolCall(`c${++count}`, "search", input));
        messages.push(assistant(text, { toolCalls }));
        messages.push(...toolCalls.map((call) => toolResult(call.id, `result of ${call.id}`, { name: "search" })));
      }
      messages.push(assistant(answer));
    }
    return messages;
  });

type Fields = Record<string, unknown>;

// Entries found in lists written by other programs.
const garbage: readonly unknown[] = [
  ...[null, undefined, 42, "bare text", [], {}, { role: "alien", content: "x" }, { role: "user" }, { role: 7 }],
  ...[
    { role: "user", content: null },
    { role: "user", content: ["bare", null, { type: "text", text: "part" }] },
  ],
  { role: "system", content: 5, metadata: null },
  ...[
    { role: "assistant" },
    { role: "assistant", content: "" },
    { role: "assistant", content: " \n" },
    { role: "assistant", content: [null] },
  ],
  { role: "assistant", content: [{ type: "text", text: "" }] },
  { role: "assistant", content: "x", tool_calls: "none" },
  { role: "assistant", content: 42, tool_calls: [toolCall("g1", "search")] },
  { role: "assistant", content: [null, "text"], tool_calls: [toolCall("g2", "search")], metadata: "m" },
  { role: "assistant", content: null, tool_calls: [null, 3, {}, { id: "g3", function: "search" }] },
  { role: "assistant", tool_calls: [{ id: 5, type: "function", function: { name: "", arguments: null } }] },
  { role: "assistant", content: "x", tool_calls: [{ id: "g4", type: "custom", function: null }] },
  ...[{ role: "tool" }, { role: "tool", tool_call_id: null, content: "x" }, { role: "tool", tool_call_id: "c1" }],
  { role: "tool", tool_call_id: "c2", content: [null, "text", { type: "text", text: "part" }] },
];
const brokenArguments = ["", " ", "{", '{"a":', "[]", "null", "5", '{"a":1}{"b":2}', undefined, null, {}];

interface Damage {
  readonly kind: keyof typeof damages;
  readonly at: number;
  readonly to: number;
}

/** One kind of damage to a list. `at` and `to` are whole numbers that select positions. */
const damages = {
  cutFront: (list: unknown[], { at }: Damage) => list.slice(at % (list.length + 1)),
  cutEnd: (list: unknown[], { at }: Damage) => list.slice(0, at % (list.length + 1)),
  drop: (list: unknown[], { at }: Damage) => list.filter((_, i) => i !== at % list.length),
  dropRole: (list: unknown[], { at }: Damage) => {
    const role = ["system", "user", "assistant", "tool"][at % 4];
    return list.filter((message) => (message as Fields | undefined)?.role !== role);
  },
  move: (list: unknown[], { at, to }: Damage) => {
    const rest = list.filter((_, i) => i !== at % list.length);
    return rest.toSpliced(to % (rest.length + 1), 0, list[at % list.length]);
  },
  repeat: (list: unknown[], { at, to }: Damage) => list.toSpliced(to % (list.length + 1), 0, list[at % list.length]),
  reverse: (list: unknown[]) => list.toReversed(),
  insertGarbage: (list: unknown[], { at, to }: Damage) =>
    list.toSpliced(to % (list.length + 1), 0, garbage[at % garbage.length]),
  emptyId: (list: unknown[], damage: Damage) => changeIds(list, damage, ""),
  missingId: (list: unknown[], damage: Damage) => changeIds(list, damage, undefined),
  sameId: (list: unknown[], damage: Damage) => changeIds(list, damage, "c1"),
  allSameId: (list: unknown[]) => list.map((_, at) => changeIds(list, { kind: "sameId", at, to: 0 }, "same")[at]),
  mintedId: (list: unknown[], damage: Damage) => changeIds(list, damage, "rep000001"),
  nullCalls: (list: unknown[], { at }: Damage) => change(list, at, (message) => ({ ...message, tool_calls: null })),
  noCalls: (list: unknown[], { at }: Damage) => change(list, at, (message) => ({ ...message, tool_calls: [] })),
  breakArguments: (list: unknown[], { at, to }: Damage) =>
    change(list, at, (message) => {
      if (!Array.isArray(message.tool_calls)) return message;
      const text = brokenArguments[to % brokenArguments.length];
      const calls = message.tool_calls.map((call) => ({ ...call, function: { ...call?.function, arguments: text } }));
      return { ...message, tool_calls: calls };
    }),
};

function change(list: unknown[], at: number, edit: (message: Fields) => Fields): unknown[] {
  const message = list[at % list.length];
  if (typeof message !== "object" || message === null || Array.isArray(message)) return list;
  return list.with(at % list.length, edit(message as Fields));
}

function changeIds(list: unknown[], { at }: Damage, id: string | undefined): unknown[] {
  return change(list, at, (message) => {
    if (message.role === "tool") return { ...message, tool_call_id: id };
    if (!Array.isArray(message.tool_calls)) return message;
    return { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, id })) };
  });
}

const damage: fc.Arbitrary<Damage> = fc.record({
  kind: fc.constantFrom(...(Object.keys(damages) as Damage["kind"][])),
  at: fc.nat(40),
  to: fc.nat(40),
});

/** Any list that a store, an import or a careless caller may pass, typed as messages. */
export const anyHistories: fc.Arbitrary<Message[]> = fc
  .tuple(validHistories, fc.array(damage, { maxLength: 6 }), fc.infiniteStream(fc.nat(100)), fc.nat(9))
  .map(([history, happened, order, luck]) => {
    let list: unknown[] = history;
    for (const each of happened) list = list.length === 0 ? list : damages[each.kind](list, each);
    if (luck > 0) return list as Message[];
    return list
      .map((message) => [order.next().value, message] as const)
      .sort(byFirst)
      .map(([, message]) => message as Message);
  });

function byFirst(a: readonly [number, unknown], b: readonly [number, unknown]): number {
  return a[0] - b[0];
}

/** Deep-freezes a value, so that any write to it throws. */
export function deepFrozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) deepFrozen(inner);
  return value;
}
