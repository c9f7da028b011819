// Model input: the prompt of each model call of a run. Repaired before every call; each message is converted once, and adapted to
// the provider by outgoing-prompt.ts.
import { isObject, type JsonValue } from "../base/json.ts";
import { warn } from "../base/warn.ts";
import type { AssistantMessage, Message, ToolCall } from "../messages/message.ts";
import type { Messages } from "../messages/messages.ts";
import { PairingCheck } from "../messages/pairing.ts";
import { repairMessages } from "../messages/repair.ts";
import { unreadableTypes, withoutFiles } from "./content-parts.ts";
import type { Downloads } from "./downloads.ts";
import type { Model, ModelCallOptions, PromptMessage } from "./model.ts";
import type { ProviderData } from "./model-settings.ts";
import { OutgoingPrompt } from "./outgoing-prompt.ts";
import { promptMessage } from "./prompt.ts";
import { type ProviderRules, rulesOf } from "./provider-rules.ts";

// The longest prompt that is copied for each call. Copies are cheap up to 16,384 messages; V8 gives longer arrays pages of
// their own, and a step of a run of 10,000 steps then takes 5.9 times as long as one of 100 steps, instead of 1.8 times.
const maxCopied = 10_000;

/**
 * Turns one message into its prompt form. `toolName` returns the tool that a result came from; `inputOf` returns the parsed
 * arguments of a call if they are known already.
 */
export type ToPrompt = (
  message: Message,
  toolName: (callId: string) => string,
  inputOf?: (call: ToolCall) => JsonValue | undefined,
) => PromptMessage;

export interface ModelInputOptions {
  /** The run that the prompts are for. Files in the tool results of other runs are not shown. */
  readonly runId?: string | undefined;
  /** Whether providers are asked to cache the instructions, or all earlier turns too. Default: neither. */
  readonly caches?: "instructions" | "turns" | undefined;
}

/**
 * The prompts of one run. While the sections only grow at their end, a prompt costs the conversion of the new messages and
 * one copy of an array. After any other change all messages are checked, repaired if necessary, and converted again.
 */
export class ModelInput {
  readonly #toPrompt: ToPrompt;
  #rules: ProviderRules;
  #sections: readonly Messages[] = [];
  #outgoing: OutgoingPrompt;
  /** The messages behind the prompt, repaired. */
  #messages: Message[] = [];
  #added: readonly Message[] | undefined;
  /** The length that the prompt had when it was made. */
  #length = 0;
  #pairing = this.#newPairing();
  /** The ids of calls that are no longer part of the prompt. */
  readonly #earlierIds = new Set<string>();
  /** The latest assistant message. */
  #reply: AssistantMessage | undefined;
  /** The names of the tools that it called, by call id; made when they are asked for. */
  #called: ReadonlyMap<string, string> | undefined;
  /** The arguments of the calls that were made since the last prompt. */
  readonly #inputs = new Map<ToolCall, JsonValue>();
  #hasWarned = false;
  readonly #options: ModelInputOptions;
  /** The provider options that mark where a cached beginning of the prompt ends. */
  #cacheMark: ProviderData | undefined;
  /** The latest place that was considered for such a mark. */
  #passed: "start" | "instructions" | "turns" = "start";

  /** `provider` is the name by which a model gives its provider. */
  constructor(toPrompt: ToPrompt = promptMessage, provider = "", options: ModelInputOptions = {}) {
    this.#toPrompt = toPrompt;
    this.#options = options;
    this.#rules = rulesOf(provider);
    this.#outgoing = new OutgoingPrompt(this.#rules);
  }

  /** The model of the next prompts. If it wants another form than the one before, the next prompt is made anew. */
  useModel({ provider, modelId }: Pick<Model, "provider" | "modelId">): void {
    const rules = rulesOf(provider);
    const { cache } = rules;
    const isMarked = this.#options.caches !== undefined && (cache?.models?.test(modelId) ?? true);
    const mark = isMarked ? cache?.mark : undefined;
    if (rules === this.#rules && mark === this.#cacheMark) return;
    this.#rules = rules;
    this.#cacheMark = mark;
    this.#sections = [];
  }

  /** True if a call of this run has this id, in the present prompt or before. */
  usesCallId(id: string): boolean {
    return this.#pairing.hasSeen(id) || this.#earlierIds.has(id);
  }

  /** Marks ids as used by calls of this run, whether the model is shown these calls again or not. */
  reserveCallIds(ids: Iterable<string>): void {
    for (const id of ids) this.#earlierIds.add(id);
  }

  /** Announces a well-formed call and its parsed arguments, so that the next prompt need not parse them again. */
  trust(call: ToolCall, input: JsonValue): void {
    this.#inputs.set(call, input);
  }

  /**
   * The valid prompt of these sections, one after another. The array is the caller's to keep; one of more than 10,000 messages
   * is valid until the next call. Files at URLs are as they were given: see `resolveUrls`.
   */
  promptOf(sections: readonly Messages[]): PromptMessage[] {
    // A caller may have added to the list that it was given, or removed from it.
    const isIntact = this.#outgoing.messages.length === this.#length;
    this.#added = isIntact ? addedMessages(this.#sections, sections) : undefined;
    if (this.#added === undefined || !this.#accepts(this.#added)) this.#rebuild(sections);
    this.#sections = sections;
    this.#inputs.clear();
    return this.#handOut();
  }

  /** True if the latest prompt has files at URLs that `resolveUrls` has not seen. */
  get hasUrls(): boolean {
    return this.#outgoing.hasUrls;
  }

  /** The latest prompt, with files that the model does not fetch itself downloaded. */
  async resolveUrls(downloads: Downloads): Promise<PromptMessage[]> {
    await this.#outgoing.resolveUrls(downloads);
    return this.#handOut();
  }

  #handOut(): PromptMessage[] {
    const { messages } = this.#outgoing;
    this.#outgoing.seal();
    this.#length = messages.length;
    return this.#length > maxCopied ? messages : messages.slice();
  }

  /** The messages of the latest prompt, after repair. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** The messages that the latest prompt has at its end, behind those of the prompt before; undefined if it was made anew. */
  get added(): readonly Message[] | undefined {
    return this.#added;
  }

  #rebuild(sections: readonly Messages[]): void {
    this.#added = undefined;
    const messages = sections.flatMap((section) => section.toArray());
    this.#reset();
    if (this.#accepts(messages)) return;
    this.#reset();
    this.#accepts(repairMessages(messages));
  }

  #reset(): void {
    this.reserveCallIds(this.#pairing.seenIds());
    for (const { id } of this.#inputs.keys()) this.#earlierIds.add(id);
    this.#outgoing = new OutgoingPrompt(this.#rules);
    this.#messages = [];
    this.#passed = "start";
    this.#pairing = this.#newPairing();
  }

  #newPairing(): PairingCheck {
    return new PairingCheck((call) => this.#inputs.has(call));
  }

  // False if the messages do not continue the prompt as a valid list: it has to be rebuilt.
  #accepts(messages: readonly Message[]): boolean {
    if (!this.#pairing.accepts(messages)) return false;
    for (const given of messages) {
      const message = this.#shown(given);
      if (message.role === "assistant") {
        this.#reply = message;
        this.#called = undefined;
      } else if (message.role === "user") this.#warnOnce(unreadableTypes(message.content));
      if (this.#cacheMark !== undefined) this.#markCache(message, this.#cacheMark);
      const prompt = this.#toPrompt(message, this.#toolName, this.#inputOf);
      this.#outgoing.add(withOptions(prompt, message), this.#isInput(message));
      this.#messages.push(message);
    }
    return true;
  }

  // Marks the end of the instructions, and of the last turn before this run: up to there, later prompts begin with the same bytes.
  // Called before each message is added.
  #markCache({ role, metadata }: Message, mark: ProviderData): void {
    const { caches, runId } = this.#options;
    if (this.#passed === "start" && role !== "system") {
      this.#passed = "instructions";
      this.#outgoing.addOptions(mark);
    }
    if (this.#passed === "turns" || metadata?.runId !== runId) return;
    this.#passed = "turns";
    if (caches === "turns" && this.#outgoing.messages.at(-1)?.role !== "system") this.#outgoing.addOptions(mark);
  }

  /** The tools of the latest prompt. Without instructions behind them, the last one has the mark. */
  markTools(tools: ModelCallOptions["tools"]): ModelCallOptions["tools"] {
    const place = tools?.findLastIndex(({ type }) => type === "function") ?? -1;
    const mark = this.#cacheMark;
    if (mark === undefined || place === -1 || this.#outgoing.messages[0]?.role === "system") return tools;
    return tools?.map((tool, index) => (index === place ? { ...tool, providerOptions: mark } : tool));
  }

  #shown(message: Message): Message {
    return message.role === "tool" && this.#isEarlier(message) ? withoutFiles(message) : message;
  }

  #isEarlier({ metadata }: Message): boolean {
    const { runId } = this.#options;
    return runId !== undefined && metadata?.runId !== runId;
  }

  // Without messages that joined: another user may have started the run.
  #isInput(message: Message): boolean {
    return message.role === "user" && message.metadata?.isJoined !== true && !this.#isEarlier(message);
  }

  // Once per run: a conversation may have the same parts in every message.
  #warnOnce(types: readonly string[]): void {
    if (types.length === 0 || this.#hasWarned) return;
    this.#hasWarned = true;
    const named = [...new Set(types)].map((type) => `"${type}"`).join(", ");
    warn(
      `Content parts of type ${named} are not sent to the model: no provider can read them. Send text, images or files.`,
    );
  }

  readonly #toolName = (callId: string): string => {
    this.#called ??= new Map(this.#reply?.tool_calls?.map(({ id, function: called }) => [id, called.name]));
    return this.#called.get(callId) ?? "unknown_tool";
  };

  readonly #inputOf = (call: ToolCall): JsonValue | undefined => this.#inputs.get(call);
}

// The options for providers that a message carries.
function withOptions(prompt: PromptMessage, { metadata }: Message): PromptMessage {
  const options = metadata?.providerOptions;
  if (!isObject(options) || !Object.values(options).every(isObject)) return prompt;
  return { ...prompt, providerOptions: options as ProviderData };
}

/** The messages that were appended to one section; undefined if anything else changed, or if other messages follow them. */
function addedMessages(before: readonly Messages[], after: readonly Messages[]): Message[] | undefined {
  if (before.length !== after.length) return undefined;
  const grown = after.findIndex((section, index) => section !== before[index]);
  if (grown === -1) return [];
  const old = before[grown] as Messages;
  const now = after[grown] as Messages;
  const isFollowed = after.some(
    (section, index) => index > grown && (section.length > 0 || before[index]?.length !== 0),
  );
  return !isFollowed && now.extends(old) ? now.toArray(old.length) : undefined;
}
