// The exports of "offstage/testing", listed by hand: tools for tests of agents, and contract suites for driver authors.

export { type CheckSpansOptions, checkSpans } from "./check-spans.ts";
export type { ContractCase } from "./contract-case.ts";
export { type CrashPoint, crashingStore } from "./crash-points.ts";
export { type StoreDriverContractOptions, storeDriverContract } from "./driver-contract.ts";
export { type MemoryContractOptions, memoryContract } from "./memory-contract.ts";
export {
  type ScriptEntry,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedRequest,
  scriptedModel,
} from "./scripted-model.ts";
export type { ScriptedReply, ScriptedToolCall, ScriptedUsage } from "./scripted-reply.ts";
export { sessionContract } from "./session-contract.ts";
export { type SessionStoreContractOptions, sessionStoreContract } from "./session-store-contract.ts";
export { type ExporterUnderTest, spanExporterContract } from "./span-exporter-contract.ts";
