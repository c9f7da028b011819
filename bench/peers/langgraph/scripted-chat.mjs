// The script as a LangChain chat model.
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, AIMessageChunk } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import { DELTA, promptGauge } from "../../lib/script.mjs";

const USAGE = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };

export class ScriptedChat extends BaseChatModel {
  constructor(script, gauge = promptGauge()) {
    super({});
    this.script = script;
    this.gauge = gauge;
  }

  _llmType() {
    return "script";
  }

  bindTools() {
    return this;
  }

  async _generate(messages) {
    this.gauge.see(messages.length);
    const reply = this.script.next(messages.length);
    return { generations: [{ text: reply.text ?? "", message: messageOf(reply) }] };
  }
}

function messageOf(reply) {
  if (!reply.isToolCall) {
    return new AIMessage({ content: reply.text, usage_metadata: USAGE });
  }
  const call = { id: reply.id, name: reply.name, args: reply.input, type: "tool_call" };
  return new AIMessage({ content: "", tool_calls: [call], usage_metadata: USAGE });
}

/** Streams `deltas` text deltas instead of the script. */
export class StreamingChat extends ScriptedChat {
  constructor(script, deltas) {
    super(script);
    this.deltas = deltas;
  }

  async *_streamResponseChunks(_messages, _options, runManager) {
    for (let index = 0; index < this.deltas; index++) {
      const message = new AIMessageChunk({ content: DELTA, id: "m1" });
      const chunk = new ChatGenerationChunk({ text: DELTA, message });
      yield chunk;
      await runManager?.handleLLMNewToken(DELTA, undefined, undefined, undefined, undefined, { chunk });
    }
  }
}
