// Model input: the exact prompt of each model call of a run. Repaired before every call, converted once per message.
import type { JsonValue } from "../base/json.ts";
import { keepShape } from "../base/keep-shape.ts";
import type { Message, ToolCall } from "../messages/message.ts";
import { Messages } from "../messages/messages.ts";
import { PairingCheck } from "../messages/pairing.ts";
import { repairMessages } from "../messages/repair.ts";
import type { PromptMessage } from "./model.ts";
import { promptMessage } from "./prompt.ts";

// To copy many more pointers than this costs as much as the step around it. Beyond it a model is handed the list itself,
// which is its to read while the call lasts.
const copiedUpTo = 2_000;

const noneMade: readonly never[] = [];
const noCalls: readonly ToolCall[] = [];

/**
 * Turns one message into its prompt form. `toolName` says which tool a result came from; `inputOf` has the parsed
 * arguments of some calls, so that they need not be parsed again.
 */
export type ToPrompt = (
  message: Message,
  toolName: (callId: string) => string,
  inputOf?: (call: ToolCall) => JsonValue | undefined,
) => PromptMessage;

/**
 * The prompts of one run. While sections only grow at their end, a call costs what was added to them and one copy of
 * the prompt's pointers; any other change is checked anew, repaired where it must be, and converted anew.
 */
export class ModelInput {
  readonly #toPrompt: ToPrompt;
  #sections: readonly Messages[] = [];
  #prompt: PromptMessage[] = [];
  #length = 0;
  // There from the first prompt on.
  #pairing: PairingCheck | undefined;
  /** The ids of calls that the model may not be shown any more; there once the input was rebuilt. */
  #shownBefore: Set<string> | undefined;
  /** The calls whose results come next. */
  #calls: readonly ToolCall[] = [];
  /** The calls made since the last prompt, and their arguments. */
  #made: readonly { readonly call: ToolCall; readonly input: JsonValue }[] = noneMade;

  constructor(toPrompt: ToPrompt = promptMessage) {
    this.#toPrompt = toPrompt;
  }

  /** True where a call of the present input, or an earlier one of the run, uses this id. */
  usesCallId(id: string): boolean {
    return this.#pairing?.hasSeen(id) === true || this.#shownBefore?.has(id) === true;
  }

  /** Tells that calls of the run have these ids, whether the model is shown them again or not. */
  reserveCallIds(ids: Iterable<string>): void {
    this.#shownBefore ??= new Set();
    for (const id of ids) this.#shownBefore.add(id);
  }

  /** Tells that this call was made well-formed, and what its arguments are: the next prompt need not look at them again. */
  trust(call: ToolCall, input: JsonValue): void {
    this.#pairing?.trust(call);
    this.#made = [...this.#made, { call, input }];
  }

  /** The prompt of these sections, one after another: valid, and the caller's to keep up to 2,000 messages. */
  promptOf(sections: readonly Messages[]): PromptMessage[] {
    // A model that was handed the list itself may have made it longer or shorter; other changes are not noticed.
    const isTouched = this.#prompt.length !== this.#length;
    const grown = isTouched ? undefined : grownSection(this.#sections, sections);
    if (grown === undefined || !this.#takeFrom(grown.section, grown.from)) this.#rebuild(sections);
    this.#sections = sections;
    this.#made = noneMade;
    this.#length = this.#prompt.length;
    return this.#prompt.length > copiedUpTo ? this.#prompt : this.#prompt.slice();
  }

  #rebuild(sections: readonly Messages[]): void {
    const pairing = this.#begin();
    if (!this.#takeSections(sections, pairing) || !pairing.isClosed) this.#repair(sections);
  }

  #repair(sections: readonly Messages[]): void {
    const list = sections.flatMap((section) => section.toArray());
    this.#take(repairMessages(list), this.#begin());
  }

  #begin(): PairingCheck {
    if (this.#pairing !== undefined) this.reserveCallIds(this.#pairing.seenIds());
    for (const { call } of this.#made) this.reserveCallIds([call.id]);
    this.#prompt = [];
    this.#pairing = new PairingCheck();
    return this.#pairing;
  }

  #takeSections(sections: readonly Messages[], pairing: PairingCheck): boolean {
    for (let i = 0; i < sections.length; i++) {
      const section = sections[i] as Messages;
      if (section.length > 0 && !this.#take(section.toArray(), pairing)) return false;
    }
    return true;
  }

  // False where the messages do not leave a valid list: what was taken is then of no use.
  #takeFrom(section: Messages, from: number): boolean {
    const pairing = this.#pairing;
    return pairing !== undefined && this.#take(section.toArray(from), pairing) && pairing.isClosed;
  }

  #take(messages: readonly Message[], pairing: PairingCheck): boolean {
    const prompt = this.#prompt;
    const isUsual = this.#toPrompt === promptMessage;
    let { isClosed } = pairing;
    for (let i = 0; i < messages.length; i++) {
      const message = messages[i] as Message;
      if (isUsual && isClosed && isPlainText(message)) {
        const { role, content: text } = message;
        prompt.push({ role, content: [{ type: "text", text }] });
      } else {
        if (!pairing.takes(message)) return false;
        prompt.push(this.#convert(message));
        isClosed = pairing.isClosed;
      }
    }
    return true;
  }

  #convert(message: Message): PromptMessage {
    if (message.role === "assistant") this.#calls = message.tool_calls ?? noCalls;
    return this.#toPrompt(message, this.#toolName, this.#inputOf);
  }

  readonly #toolName = (callId: string): string =>
    this.#calls.find((call) => call.id === callId)?.function.name ?? "unknown_tool";

  readonly #inputOf = (call: ToolCall): JsonValue | undefined => this.#made.find((each) => each.call === call)?.input;
}

keepShape(new ModelInput());

type PlainText = Message & { readonly role: "user" | "assistant"; readonly content: string };

// Most of a conversation is text, which needs no look at calls and parts.
function isPlainText(message: Message): message is PlainText {
  const content = message?.content;
  const role = message?.role;
  if (typeof content !== "string") return false;
  if (role === "user") return true;
  if (role !== "assistant" || message.tool_calls !== undefined) return false;
  return message.metadata?.providerParts === undefined && content.trim() !== "";
}

interface Growth {
  readonly section: Messages;
  readonly from: number;
}

// The one section that grew, where everything before it is the same and nothing stands behind it.
function grownSection(before: readonly Messages[], after: readonly Messages[]): Growth | undefined {
  if (before.length !== after.length) return undefined;
  let growth: Growth | undefined;
  for (let i = 0; i < after.length; i++) {
    const old = before[i] as Messages;
    const now = after[i] as Messages;
    if (now === old) {
      if (growth !== undefined && now.length > 0) return undefined;
    } else if (growth === undefined && now.extends(old)) growth = { section: now, from: old.length };
    else if (now.length > 0 || old.length > 0) return undefined;
  }
  return growth ?? { section: Messages.empty(), from: 0 };
}
