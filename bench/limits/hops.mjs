// The cost of one hop in this engine: an await, a generator, a stream, a callback; and one step of a bare loop.
import { nanosecondsEach } from "./timing.mjs";

/** The measurements; each runs on its own. */
export function hopLimits() {
  const measure = (name, count, work) => ({ name, unit: "ns", run: () => nanosecondsEach(count, work) });
  return [
    measure("bare loop step: model, tool, two pushes", 100_000, bareSteps),
    measure("await of an async function", 300_000, awaits),
    measure("async generator, per item", 200_000, (count) => consume(generate(count))),
    measure("two async generators, per item", 200_000, (count) => consume(passOn(generate(count)))),
    measure("ReadableStream, per item", 50_000, (count) => consume(readable(count))),
    measure("hand-written async iterator, per item", 200_000, (count) => consume(iterator(count))),
    measure("callback, per item", 2_000_000, callbacks),
    measure("crypto.randomUUID", 200_000, uuids),
  ];
}

async function bareSteps(count) {
  const messages = [];
  const model = async () => ({ name: "tool", json: '{"x":1}' });
  const tools = { tool: async () => "ok" };
  for (let index = 0; index < count; index++) {
    const reply = await model(messages);
    messages.push(reply);
    messages.push({ role: "tool", content: await tools[reply.name](JSON.parse(reply.json)) });
  }
  return messages.length;
}

async function awaits(count) {
  const one = async () => 1;
  let sum = 0;
  for (let index = 0; index < count; index++) {
    sum += await one();
  }
  return sum;
}

async function consume(source) {
  let sum = 0;
  for await (const item of source) {
    sum += item;
  }
  return sum;
}

async function* generate(count) {
  for (let index = 0; index < count; index++) {
    yield index;
  }
}

async function* passOn(source) {
  for await (const item of source) {
    yield item;
  }
}

function readable(count) {
  let index = 0;
  return new ReadableStream({
    pull(controller) {
      if (index < count) {
        controller.enqueue(index++);
      } else {
        controller.close();
      }
    },
  });
}

function iterator(count) {
  let index = 0;
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next() {
      const done = index >= count;
      return Promise.resolve({ value: done ? undefined : index++, done });
    },
  };
}

function callbacks(count) {
  let sum = 0;
  const receive = (event) => {
    sum += event.delta.length;
  };
  for (let index = 0; index < count; index++) {
    receive({ type: "delta", delta: "word " });
  }
  return sum;
}

function uuids(count) {
  let sum = 0;
  for (let index = 0; index < count; index++) {
    sum += crypto.randomUUID().length;
  }
  return sum;
}
