// The list of built-in processors, and the chain each mode uses. To add one: a file here and a line below.
import type { Processor } from "../processor.ts";
import { appendContextMetadata } from "./append-context-metadata.ts";
import { appendFinalResponse } from "./append-final-response.ts";
import { appendStepMessages } from "./append-step-messages.ts";
import { appendToolTraceToBuffer } from "./append-tool-trace-to-buffer.ts";
import { applyCachedContext } from "./apply-cached-context.ts";
import { clearExecutionBuffer } from "./clear-execution-buffer.ts";

export {
  appendContextMetadata,
  appendFinalResponse,
  appendStepMessages,
  appendToolTraceToBuffer,
  applyCachedContext,
  clearExecutionBuffer,
};

/** Separated: the tool trace is buffered, the answer joins the conversation, the buffer is emptied when the run stops. */
export const separatedProcessors: readonly Processor[] = [
  clearExecutionBuffer,
  appendFinalResponse,
  appendToolTraceToBuffer,
];

/** Together: everything joins the conversation. */
export const togetherProcessors: readonly Processor[] = [appendStepMessages];
