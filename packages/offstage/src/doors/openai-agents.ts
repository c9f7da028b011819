// "offstage/openai-agents": our sessions for the Runner of the OpenAI Agents SDK, and its sessions for our agents.

export type { OpenAiSession } from "../sessions/adapters/openai-agents.ts";
export { fromOpenAiSession, toOpenAiSession } from "../sessions/adapters/openai-agents.ts";
export type { OpenAiItem } from "../sessions/adapters/openai-items.ts";
