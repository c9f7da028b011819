// Chooses the models: a provider whose key is in the environment, otherwise the script.
import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { AnyModel } from "offstage";
import type { Pace } from "./pace.ts";
import { scriptedOnCall, scriptedReviewer } from "./script.ts";

export interface Models {
  readonly label: string;
  readonly onCall: AnyModel;
  readonly reviewer: AnyModel;
}

/** Tries OPENAI_API_KEY or OPENAI_BASE_URL, then ANTHROPIC_API_KEY, then the script. */
export function chooseModels(env: NodeJS.ProcessEnv, pace: Pace): Models {
  const { OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL, ANTHROPIC_API_KEY, ANTHROPIC_MODEL } = env;
  if (OPENAI_API_KEY || OPENAI_BASE_URL) {
    const baseURL = OPENAI_BASE_URL || "https://api.openai.com/v1";
    const provider = createOpenAICompatible({
      name: "openai",
      baseURL,
      includeUsage: true,
      ...(OPENAI_API_KEY ? { apiKey: OPENAI_API_KEY } : {}),
    });
    const model = provider.chatModel(OPENAI_MODEL || "gpt-4.1-mini");
    return { label: `${model.modelId} at ${new URL(baseURL).host}`, onCall: model, reviewer: model };
  }
  if (ANTHROPIC_API_KEY) {
    const model = createAnthropic({ apiKey: ANTHROPIC_API_KEY })(ANTHROPIC_MODEL || "claude-haiku-4-5");
    return { label: `${model.modelId} of Anthropic`, onCall: model, reviewer: model };
  }
  const label = "a script; set OPENAI_API_KEY, OPENAI_BASE_URL or ANTHROPIC_API_KEY for a real one";
  return { label, onCall: scriptedOnCall(pace), reviewer: scriptedReviewer(pace) };
}
