// LangGraph. Variants: none is LangChain's createAgent, ":raw" a hand-built StateGraph with a ToolNode, ":exit" is
// createAgent with one checkpoint per turn. SqliteSaver runs on better-sqlite3 13 through an npm override.
import fs from "node:fs";
import path from "node:path";
import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import { RunCollectorCallbackHandler } from "@langchain/core/tracers/run_collector";
import { END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { createAgent, tool } from "langchain";
import { z } from "zod";
import { deltaCounter } from "../../lib/clock.mjs";
import {
  addOne,
  DELTA,
  INSTRUCTIONS,
  lookUpOrder,
  loopScript,
  PROMPT,
  promptGauge,
  sessionScript,
  TOOL_DESCRIPTION,
  TOOL_NAME,
} from "../../lib/script.mjs";
import { ScriptedChat, StreamingChat } from "./scripted-chat.mjs";

function toolOf(work) {
  const schema = z.object({ x: z.number() });
  return tool(async ({ x }) => work(x), { name: TOOL_NAME, description: TOOL_DESCRIPTION, schema });
}

function graphOf(variant, { model, work, checkpointer }) {
  const tools = [toolOf(work)];
  if (variant === "raw") {
    return rawGraph({ model: model.bindTools(tools), tools, checkpointer });
  }
  return createAgent({ model, tools, systemPrompt: INSTRUCTIONS, checkpointer });
}

function rawGraph({ model, tools, checkpointer }) {
  const system = new SystemMessage(INSTRUCTIONS);
  const callModel = async (state, config) => ({ messages: [await model.invoke([system, ...state.messages], config)] });
  const route = (state) => (state.messages.at(-1).tool_calls?.length ? "tools" : END);
  return new StateGraph(MessagesAnnotation)
    .addNode("agent", callModel)
    .addNode("tools", new ToolNode(tools))
    .addEdge(START, "agent")
    .addConditionalEdges("agent", route, ["tools", END])
    .addEdge("tools", "agent")
    .compile({ checkpointer });
}

function countRuns(run) {
  return (run.child_runs ?? []).reduce((total, child) => total + countRuns(child), 1);
}

export async function loop({ steps, tracing, variant }) {
  const graph = graphOf(variant, { model: new ScriptedChat(loopScript(steps)), work: addOne });
  const recursionLimit = 3 * steps + 20;
  return {
    async run() {
      const collector = tracing ? new RunCollectorCallbackHandler() : undefined;
      const config = collector ? { recursionLimit, callbacks: [collector] } : { recursionLimit };
      const result = await graph.invoke({ messages: [new HumanMessage(PROMPT)] }, config);
      return {
        text: result.messages.at(-1).content,
        get spans() {
          return collector?.tracedRuns.reduce((total, run) => total + countRuns(run), 0) ?? 0;
        },
        keep: [result, collector],
      };
    },
  };
}

async function openCheckpointer(store, folder) {
  if (store === "memory") {
    return new MemorySaver();
  }
  const { SqliteSaver } = await import("@langchain/langgraph-checkpoint-sqlite");
  fs.mkdirSync(folder, { recursive: true });
  return SqliteSaver.fromConnString(path.join(folder, "session.db"));
}

export async function session({ store, folder, variant }) {
  const checkpointer = await openCheckpointer(store, folder);
  const gauge = promptGauge();
  const graph = graphOf(variant, { model: new ScriptedChat(sessionScript(), gauge), work: lookUpOrder, checkpointer });
  const durability = variant === "exit" ? { durability: "exit" } : {};
  const config = { configurable: { thread_id: "s1" }, ...durability };
  return {
    async turn(text) {
      const result = await graph.invoke({ messages: [new HumanMessage(text)] }, config);
      return result.messages.at(-1).content;
    },
    async history() {
      const state = await graph.getState(config);
      return state.values.messages.length;
    },
    longestPrompt: () => gauge.longest,
    close: () => checkpointer.db?.close(),
  };
}

export async function stream({ deltas, variant }) {
  const graph = graphOf(variant, { model: new StreamingChat(loopScript(0), deltas), work: addOne });
  return {
    async run() {
      const counter = deltaCounter();
      const input = { messages: [new HumanMessage(PROMPT)] };
      for await (const [message] of await graph.stream(input, { streamMode: "messages" })) {
        if (message.content === DELTA) {
          counter.add();
        }
      }
      return counter;
    },
  };
}
