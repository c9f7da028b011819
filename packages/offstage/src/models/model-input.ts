// Model input: the prompt of each model call of a run. Repaired before every call; each message is converted once, and adapted to
// the provider by outgoing-prompt.ts.
import type { JsonValue } from "../base/json.ts";
import { warn } from "../base/warn.ts";
import type { AssistantMessage, Message, ToolCall } from "../messages/message.ts";
import type { Messages } from "../messages/messages.ts";
import { PairingCheck } from "../messages/pairing.ts";
import { repairMessages } from "../messages/repair.ts";
import { unreadableTypes, withoutFiles } from "./content-parts.ts";
import type { Downloads } from "./downloads.ts";
import type { PromptMessage } from "./model.ts";
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
  readonly #runId: string | undefined;

  /** `provider` is the name by which a model gives its provider. Files in the tool results of other runs than `runId` are not shown. */
  constructor(toPrompt: ToPrompt = promptMessage, provider = "", runId?: string) {
    this.#toPrompt = toPrompt;
    this.#runId = runId;
    this.#rules = rulesOf(provider);
    this.#outgoing = new OutgoingPrompt(this.#rules);
  }

  /** The provider of the next prompts. If it has other rules than the one before, the next prompt is made anew. */
  useProvider(provider: string): void {
    const rules = rulesOf(provider);
    if (rules === this.#rules) return;
    this.#rules = rules;
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
   * is valid until the next call. Files at URLs are as they were given: see `resolvedPromptOf`.
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

  /** The same, with files that the model does not fetch itself downloaded. */
  async resolvedPromptOf(sections: readonly Messages[], downloads: Downloads): Promise<PromptMessage[]> {
    const prompt = this.promptOf(sections);
    if (!this.#outgoing.hasUrls) return prompt;
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
      this.#outgoing.add(this.#toPrompt(message, this.#toolName, this.#inputOf));
      this.#messages.push(message);
    }
    return true;
  }

  #shown(message: Message): Message {
    const isEarlier = this.#runId !== undefined && message.metadata?.runId !== this.#runId;
    return message.role === "tool" && isEarlier ? withoutFiles(message) : message;
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
