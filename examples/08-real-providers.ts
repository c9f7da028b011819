// Lesson 8: use any AI SDK provider. Set OPENAI_API_KEY, OPENAI_BASE_URL or ANTHROPIC_API_KEY, and run this again.
// Without them, a small server in loopback-server.ts plays the provider. The provider package is the real one in any case.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent, tool } from "offstage";
import * as z from "zod";
import { startLoopbackServer } from "./loopback-server.ts";

const { OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL, ANTHROPIC_API_KEY, ANTHROPIC_MODEL } = process.env;

const isAlone = !OPENAI_API_KEY && !OPENAI_BASE_URL && !ANTHROPIC_API_KEY;
const loopback = isAlone ? await startLoopbackServer({ stage: "main" }) : undefined;

function chooseModel() {
  if (ANTHROPIC_API_KEY && !OPENAI_API_KEY && !OPENAI_BASE_URL)
    return createAnthropic({ apiKey: ANTHROPIC_API_KEY })(ANTHROPIC_MODEL ?? "claude-haiku-4-5");
  // OpenAI, or any server with the same protocol: Ollama, vLLM, LM Studio, a gateway.
  const provider = createOpenAICompatible({
    name: "openai",
    baseURL: loopback?.baseURL ?? OPENAI_BASE_URL ?? "https://api.openai.com/v1",
    ...(OPENAI_API_KEY ? { apiKey: OPENAI_API_KEY } : {}),
    includeUsage: true,
  });
  return provider.chatModel(OPENAI_MODEL ?? "gpt-4.1-mini");
}

const nextShow = tool({
  name: "next_show",
  description: "What is played next on a stage.",
  input: z.object({ stage: z.enum(["main", "studio"]) }),
  execute: ({ stage }) => (stage === "main" ? "The Tempest at 19:30" : "Endgame at 21:00"),
});

const model = chooseModel();
const agent = new Agent({ model, instructions: "Answer in one sentence.", tools: [nextShow] });

console.log(`${model.provider}, ${model.modelId}${isAlone ? ", played by a server on this machine" : ""}\n`);
const stream = agent.stream("What is on the main stage tonight?");
for await (const event of stream) {
  if (event.type === "tool-end") console.log(`[${event.toolName} gave ${event.result.content}]`);
  if (event.type === "text-delta") process.stdout.write(event.delta);
}
const { usage } = await stream.result;
console.log(`\n\n${usage.inputTokens} tokens in, ${usage.outputTokens} out.`);
loopback?.close();
