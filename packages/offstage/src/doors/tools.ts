// "offstage/tools": makers for the parts that a tool may return and a user may send, and the types of tools and of functions that choose them.

export type { AgentTool, StepFunction, StepOptions } from "../agent/ports/agent-options.ts";
export type { FilePartOptions, FileSource } from "../messages/parts.ts";
export { audio, file, image, text } from "../messages/parts.ts";
export { type AiSdkTool, fromAiSdkTools } from "../tools/ai-sdk-tools.ts";
export type { HostedTool } from "../tools/hosted-tool.ts";
