// The list of importers, tried in this order. To add one: a file beside this one and a line here.
import type { Importer } from "../import/importer.ts";
import { aiSdkModel } from "./ai-sdk-model.ts";
import { aiSdkUi } from "./ai-sdk-ui.ts";
import { anthropic } from "./anthropic.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { langchain } from "./langchain.ts";
import { openaiChat } from "./openai-chat.ts";
import { openaiResponses } from "./openai-responses.ts";

export const importers: readonly Importer[] = [
  ...[openaiChat, aiSdkModel, aiSdkUi, anthropic, langchain, openaiResponses],
  ...[claudeCode, codex],
];
