// Decides how much of tools a client may see. Nothing else decides it.
import type { OptionRule } from "../../base/options.ts";

/** How much a client sees of a tool: nothing, its name and status, or its input and output too. */
export type ToolDetail = "nothing" | "name" | "all";

/**
 * How much a client sees beside the conversation. `"conversation"`: nothing. `"trace"`: tools, their subagents and reasoning. A function
 * decides for each tool. What waits for a person is always shown with its name and input.
 */
export type Show = "conversation" | "trace" | ((toolName: string) => ToolDetail);

export const someShow: OptionRule = {
  isFit: (value) => value === "conversation" || value === "trace" || typeof value === "function",
  words: '"conversation", "trace" or a function of the tool\'s name',
};

/** The detail of a tool. A function that throws, or returns anything else, shows nothing. */
export function detailOf(show: Show, toolName: string): ToolDetail {
  if (show === "conversation") return "nothing";
  if (show === "trace") return "all";
  try {
    const detail = show(toolName);
    return detail === "name" || detail === "all" ? detail : "nothing";
  } catch {
    return "nothing";
  }
}
