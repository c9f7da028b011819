// The cost of memory as a conversation grows: turn 10 against turn 2,000, with tools, in a window of 16,000 tokens.
// Usage: node memory.mjs [turns]. Every request is checked: valid pairs, within the window. What counts is the ratio.
// It looks at single files, so it runs the sources as they are.
const load = (path) => import(new URL(`../packages/offstage/src/${path}`, import.meta.url));

const { AgentState } = await load("state/agent-state.ts");
const { Messages } = await load("messages/messages.ts");
const { ModelInput } = await load("models/model-input.ts");
const { tokenCounter } = await load("tokens/token-counter.ts");
const { scriptedModel } = await load("testing/scripted-model.ts");
const { compactor } = await load("memory/compaction/compactor.ts");
const strategies = await load("memory/compaction/strategies/index.ts");
const kinds = await load("memory/kinds/index.ts");

const turns = Number(process.argv[2]) || 2_000;
const contextWindow = 16_000;
const counter = tokenCounter();
const summarize = ({ messages, previous = "" }) => `${previous.slice(-2_000)} ${messages.length} messages on.`;
const onError = (error) => console.error(error);

console.log(`${turns} turns of a question, two tool calls and an answer; window ${contextWindow} tokens`);
console.table({
  slidingWindow: await conversation(strategies.slidingWindow()),
  summarizeOlder: await conversation(strategies.summarizeOlder({ summarize })),
  pruneToolResults: await conversation(strategies.pruneToolResults()),
  importance: await conversation(strategies.importance()),
  hybrid: await conversation(strategies.hybrid({ summarize })),
});
console.table({
  ConversationMemory: await memory(new kinds.ConversationMemory()),
  SlidingWindowMemory: await memory(new kinds.SlidingWindowMemory()),
  SummaryMemory: await memory(new kinds.SummaryMemory({ summarize, onError })),
  HybridMemory: await memory(new kinds.HybridMemory({ summarize, onError })),
  VectorMemory: await memory(new kinds.VectorMemory({ onError })),
});

// Each turn is a run of its own: the state and the note of the last one are all it knows.
async function conversation(strategy) {
  const rule = compactor({ threshold: 1, contextWindow, strategy, onError });
  const model = scriptedModel(() => "ok", { record: false });
  const figures = { times: [], compactions: 0, most: 0 };
  let state = AgentState.empty();
  let note;
  for (let n = 0; n < turns; n++) {
    const startedAt = performance.now();
    const input = new ModelInput();
    const compaction = rule.open({ counter, note });
    state = state.withUserMessage({
      role: "user",
      content: `Question ${n}: what about item ${n}?`,
      metadata: { id: `${n}.q` },
    });
    for (let step = 0; step < 2; step++) {
      await call(compaction, { state, input, model, figures });
      state = state.withMessages(state.messages.append(stepOf(n, step)));
    }
    await call(compaction, { state, input, model, figures });
    state = state.withMessages(
      state.messages.append({ role: "assistant", content: `Item ${n} is fine.`, metadata: { id: `${n}.a` } }),
    );
    note = compaction.note;
    figures.times.push(performance.now() - startedAt);
  }
  return { ...compared(figures.times), compactions: figures.compactions, "most tokens": figures.most };
}

async function call(compaction, { state, input, model, figures }) {
  const view = await compaction.view(state);
  if (view.compacted !== undefined) figures.compactions++;
  const sections = [Messages.empty(), ...view.sections];
  if (compaction.tokens > contextWindow) throw new Error(`${compaction.tokens} tokens are beyond the window`);
  figures.most = Math.max(figures.most, compaction.tokens);
  await model.doGenerate({ prompt: input.promptOf(sections) });
}

function stepOf(n, step) {
  const id = `${n}.${step}`;
  const call = { id: `c${id}`, type: "function", function: { name: "lookup", arguments: `{"item":${n}}` } };
  const content = `Item ${n}, part ${step}: ${"in stock, ships tomorrow, reviewed by many. ".repeat(8)}`;
  return [
    { role: "assistant", content: null, tool_calls: [call], metadata: { id: `${id}.call`, step } },
    { role: "tool", tool_call_id: call.id, name: "lookup", content, metadata: { id: `${id}.result`, step } },
  ];
}

async function memory(subject) {
  const times = [];
  for (let n = 0; n < turns; n++) {
    const startedAt = performance.now();
    await subject.add({ role: "user", content: `Question ${n}: what about item ${n}?` });
    const shown = await subject.getMessages(`item ${n % 50}`, contextWindow);
    if (counter.countMessages(shown) > contextWindow) throw new Error("beyond the window");
    await subject.add([...stepOf(n, 0), { role: "assistant", content: `Item ${n} is fine.` }]);
    times.push(performance.now() - startedAt);
  }
  return compared(times);
}

// Means over a hundred turns, so that each has its share of compactions; the first ones, before the code is warm, left out.
function compared(times) {
  const mean = (list) => list.reduce((sum, each) => sum + each, 0) / list.length;
  const size = Math.min(100, Math.floor(times.length / 4));
  const early = mean(times.slice(10, 10 + size));
  const late = mean(times.slice(-size));
  return { "turn 10, ms": round(early), [`turn ${times.length}, ms`]: round(late), ratio: round(late / early) };
}

function round(value) {
  return Math.round(value * 1000) / 1000;
}
