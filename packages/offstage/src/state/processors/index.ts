// The list of built-in processors, and the chain of each mode. To add one: a file here and a line below.
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

/** The processors of separated mode: buffer the tool trace, append the answer to the conversation, empty the buffer at the end. */
export const separatedProcessors: readonly Processor[] = [
  clearExecutionBuffer,
  appendFinalResponse,
  appendToolTraceToBuffer,
];

/** The processors of the other mode: append everything to the conversation. */
export const togetherProcessors: readonly Processor[] = [appendStepMessages];
