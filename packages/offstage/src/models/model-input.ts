// Model input: the prompt of each model call of a run. Repaired before every call; each message is converted once, and adapted to
// the provider by outgoing-prompt.ts.
import type { JsonValue } from "../base/json.ts";
import { warn } from "../base/warn.ts";
import type { Message, ToolCall, UserMessage } from "../messages/message.ts";
import { addedMessages, joinLists, type Messages } from "../messages/messages.ts";
import { PairingCheck } from "../messages/pairing.ts";
import { repairMessages } from "../messages/repair.ts";
import { unreadableTypes, withoutFiles } from "./content-parts.ts";
import type { Downloads } from "./downloads.ts";
import type { Model, ModelCallOptions, PromptMessage } from "./model.ts";
import type { ProviderData } from "./model-settings.ts";
import { OutgoingPrompt } from "./outgoing-prompt.ts";
import { promptForms, promptMessage, type ToPrompt } from "./prompt.ts";
import { generalRules, type ProviderRules, rulesOf } from "./provider-rules.ts";

// The longest prompt that is copied for each call. Copies are cheap up to 16,384 messages; V8 gives longer arrays pages of
// their own, and a step of a run of 10,000 steps then takes 5.9 times as long as one of 100 steps, instead of 1.8 times.
const maxCopied = 10_000;

export interface ModelInputOptions {
  /** The run that the prompts are for. Files in the tool results of other runs are not shown. */
  readonly runId?: string | undefined;
  /** Whether providers are asked to cache the instructions, or all earlier turns too. Default: neither. */
  readonly caches?: "instructions" | "turns" | undefined;
}

/** The model of the next prompts, and the rules of its provider. */
export interface PromptModel {
  readonly model: Pick<Model, "modelId">;
  readonly rules: ProviderRules;
}

/**
 * The prompts of one run. While the sections only grow at their end, a prompt costs the conversion of the new messages and
 * one copy of an array. After any other change all messages are checked, repaired if necessary, and converted again.
 */
export class ModelInput {
  /** The messages of the latest prompt, after repair. */
  messages: Message[] = [];
  /** The messages that the latest prompt has at its end, behind those of the prompt before; undefined if it was made anew. */
  added: readonly Message[] | undefined;
  /** True if the latest prompt has files at URLs that `resolveUrls` has not seen. */
  hasUrls = false;
  readonly #toPrompt: ToPrompt;
  #rules: ProviderRules;
  #sections: readonly Messages[] = [];
  #outgoing: OutgoingPrompt | undefined;
  /** The length that the prompt had when it was made. */
  #length = 0;
  #pairing = new PairingCheck();
  /** The ids of calls that are no longer part of the prompt. */
  readonly #earlierIds = new Set<string>();
  /** The parsed arguments of the calls that were made since the last prompt. */
  readonly #inputs = new Map<ToolCall, JsonValue>();
  #hasWarned = false;
  readonly #options: ModelInputOptions;
  /** The provider options that mark where a cached beginning of the prompt ends. */
  #cacheMark: ProviderData | undefined;

  /** `provider` is the name by which a model gives its provider. Default: unknown, until `useModel`. */
  constructor(toPrompt: ToPrompt = promptMessage, provider = "", options: ModelInputOptions = {}) {
    this.#toPrompt = toPrompt;
    this.#options = options;
    this.#rules = provider === "" ? generalRules : rulesOf(provider);
  }

  /** Sets the model of the next prompts. If it wants another form than the one before, the next prompt is made anew. */
  useModel({ model, rules }: PromptModel): void {
    const { cache } = rules;
    const isMarked = this.#options.caches !== undefined && (cache?.models?.test(model.modelId) ?? true);
    const mark = isMarked ? cache?.mark : undefined;
    if (rules === this.#rules && mark === this.#cacheMark) return;
    this.#rules = rules;
    this.#cacheMark = mark;
    this.#sections = [];
  }

  /** True if a call of this run has this id, in the present prompt or before. */
  usesCallId(id: string): boolean {
    return this.#pairing.seenIds.has(id) || this.#earlierIds.has(id);
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
    const isIntact = this.#outgoing?.messages.length === this.#length;
    this.added = isIntact ? addedMessages(this.#sections, sections) : undefined;
    if (this.added === undefined || !this.#accepts(this.added)) this.#rebuild(sections);
    this.#sections = sections;
    this.#inputs.clear();
    return this.#handOut();
  }

  /** The latest prompt, with files that the model does not fetch itself downloaded. */
  async resolveUrls(downloads: Downloads): Promise<PromptMessage[]> {
    await this.#outgoing?.resolveUrls(downloads);
    return this.#handOut();
  }

  #handOut(): PromptMessage[] {
    const { messages = [], hasUrls = false } = this.#outgoing ?? {};
    this.hasUrls = hasUrls;
    this.#length = messages.length;
    return this.#length > maxCopied ? messages : messages.slice();
  }

  #rebuild(sections: readonly Messages[]): void {
    this.added = undefined;
    const messages = joinLists(sections);
    this.#reset();
    if (this.#accepts(messages)) return;
    this.#reset();
    this.#accepts(repairMessages(messages));
  }

  #reset(): void {
    this.reserveCallIds(this.#pairing.seenIds);
    for (const { id } of this.#inputs.keys()) this.#earlierIds.add(id);
    this.#outgoing = undefined;
    this.messages = [];
    this.#pairing = new PairingCheck();
  }

  // False if the messages do not continue the prompt as a valid list: it has to be rebuilt.
  #accepts(given: readonly Message[]): boolean {
    if (!this.#pairing.accepts(given, this.#inputs)) return false;
    const messages = given.map((message) => (typeof message.content === "string" ? message : this.#shown(message)));
    this.#outgoing ??= this.#newOutgoing();
    this.#outgoing.add(promptForms(messages, { toPrompt: this.#toPrompt, inputs: this.#inputs }));
    for (const message of messages) this.messages.push(message);
    return true;
  }

  #newOutgoing(): OutgoingPrompt {
    const { runId, caches } = this.#options;
    return new OutgoingPrompt(this.#rules, { runId, cacheMark: this.#cacheMark, cachesTurns: caches === "turns" });
  }

  /** The tools of the latest prompt. Without instructions behind them, the last one has the mark. */
  markTools(tools: ModelCallOptions["tools"]): ModelCallOptions["tools"] {
    const mark = this.#cacheMark;
    if (mark === undefined || this.#outgoing?.messages[0]?.role === "system") return tools;
    const place = tools?.findLastIndex(({ type }) => type === "function");
    return tools?.map((tool, index) => (index === place ? { ...tool, providerOptions: mark } : tool));
  }

  // The files that a tool returned in an earlier turn are not shown again.
  #shown(message: Message): Message {
    const { runId } = this.#options;
    if (message.role === "user") this.#warnOnce(message);
    const isEarlier = runId !== undefined && message.metadata?.runId !== runId;
    return message.role === "tool" && isEarlier ? withoutFiles(message) : message;
  }

  // Once per run: a conversation may have the same parts in every message.
  #warnOnce({ content }: UserMessage): void {
    if (this.#hasWarned || typeof content === "string") return;
    const types = unreadableTypes(content);
    if (types.length === 0) return;
    this.#hasWarned = true;
    const named = [...new Set(types)].map((type) => `"${type}"`).join(", ");
    warn(
      `Content parts of type ${named} are not sent to the model: no provider can read them. Send text, images or files.`,
    );
  }
}
