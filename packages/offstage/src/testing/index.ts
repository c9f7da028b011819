// The front door of "offstage/testing": what users and driver authors test with, listed by hand.

export {
  type ScriptEntry,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptedReply,
  type ScriptedRequest,
  type ScriptedToolCall,
  scriptedModel,
} from "./scripted-model.ts";
