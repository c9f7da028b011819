// The list of built-in processors, and the two modes of the loop. To add a processor: a file here and a line below.
export {
  appendFinalResponse,
  appendStepMessages,
  appendToolTraceToBuffer,
  clearExecutionBuffer,
  keepSeparate,
  keepTogether,
} from "./after-step.ts";
export { appendContextMetadata } from "./append-context-metadata.ts";
export { applyCachedContext } from "./apply-cached-context.ts";
