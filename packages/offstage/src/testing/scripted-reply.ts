// What a scripted model can be told to say. How it says it is scripted-model.ts.

export interface ScriptedToolCall {
  readonly name: string;
  /** Written as JSON. */
  readonly input?: unknown;
  /** Raw text instead, for broken JSON. */
  readonly arguments?: string;
  /**
   * Default: `call_0_1`, by the numbers of the request and of the call. They begin anew with every model, so that runs on two
   * models in one session have calls of equal ids: name your own where that matters.
   */
  readonly id?: string;
}

export interface ScriptedReply {
  readonly text?: string;
  readonly reasoning?: string;
  readonly toolCalls?: readonly ScriptedToolCall[];
  readonly usage?: {
    readonly inputTokens?: number;
    readonly outputTokens?: number;
    readonly cachedInputTokens?: number;
    readonly reasoningTokens?: number;
  };
  readonly finishReason?: string;
}
