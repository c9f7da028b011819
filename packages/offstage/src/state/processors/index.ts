// The list of built-in processors. To add a processor: a file here and a line below.
export {
  appendFinalResponse,
  appendStepMessages,
  appendToolTraceToBuffer,
  clearExecutionBuffer,
} from "./after-step.ts";
export { appendContextMetadata } from "./append-context-metadata.ts";
export { applyCachedContext } from "./apply-cached-context.ts";
