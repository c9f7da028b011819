// The outgoing copy of a prompt, valid for one provider. The only place that applies provider-rules.ts. It grows at its end; each
// message is adapted once.

import type { Message } from "../messages/message.ts";
import { validCallId, validToolName } from "./call-names.ts";
import type { Downloads, UrlFile } from "./downloads.ts";
import { brokenMarkerOf, markerOf, markerWith, textOfFile } from "./media.ts";
import type { PromptFile, PromptMessage, PromptText, PromptToolResult } from "./model.ts";
import type { ProviderData } from "./model-settings.ts";
import { fitsMediaType, type ProviderRules } from "./provider-rules.ts";

type AssistantPart = Extract<PromptMessage, { role: "assistant" }>["content"][number];
type UserPart = PromptText | PromptFile;

/** A message to send, and the message that it was made from. */
export interface OutgoingMessage {
  readonly prompt: PromptMessage;
  readonly source?: Message | undefined;
}

export interface OutgoingPromptOptions {
  /** The run that the prompt is for. Default: all messages belong to it. */
  readonly runId?: string | undefined;
  /** The provider options that mark where a cached beginning of the prompt ends. Default: nothing is marked. */
  readonly cacheMark?: ProviderData | undefined;
  /** Whether the last turn before the run is marked too, or only the instructions. Default false. */
  readonly cachesTurns?: boolean | undefined;
}

export class OutgoingPrompt {
  readonly #rules: ProviderRules;
  readonly #options: OutgoingPromptOptions;
  /** The messages as they are sent. */
  readonly messages: PromptMessage[] = [];
  /** True if files at URLs were added that `resolveUrls` has not seen. */
  hasUrls = false;
  #hasBegun = false;
  /** The results of the last message, while messages are added. */
  #growing: PromptToolResult[] | undefined;
  /** The files of these results that go into a user message behind them. */
  #resultFiles: UserPart[] = [];
  /** The places of messages with files at URLs, and whether a file that cannot be fetched refuses the run instead of becoming a marker. */
  #withUrls: { readonly place: number; readonly mayRefuse: boolean }[] = [];
  /** The latest place that was considered for a cache mark. */
  #passed: "start" | "instructions" | "turns" = "start";

  constructor(rules: ProviderRules, options: OutgoingPromptOptions = {}) {
    this.#rules = rules;
    this.#options = options;
  }

  /** Adds messages at the end, with their provider options. Neighbouring tool results become one message, within one call. */
  add(added: readonly OutgoingMessage[]): void {
    const { cacheMark } = this.#options;
    for (const { prompt, source } of added) {
      if (cacheMark !== undefined) this.#markCache(cacheMark, prompt.role, source);
      const before = this.messages.at(-1);
      this.#append(prompt, source);
      const { providerOptions } = prompt;
      // A message of which nothing can be sent is left out.
      const isAdded = prompt.role === "tool" || this.messages.at(-1) !== before;
      if (providerOptions !== undefined && isAdded) this.#addOptions(providerOptions);
    }
    this.#showResultFiles();
    this.#growing = undefined;
  }

  // Marks the end of the instructions, and of the last turn before this run: up to there, later prompts begin with the same bytes.
  // Called before each message is added.
  #markCache(mark: ProviderData, role: PromptMessage["role"], source: Message | undefined): void {
    if (this.#passed === "start" && role !== "system") {
      this.#passed = "instructions";
      this.#addOptions(mark);
    }
    if (this.#passed === "turns" || this.#isEarlier(source)) return;
    this.#passed = "turns";
    if (this.#options.cachesTurns && this.messages.at(-1)?.role !== "system") this.#addOptions(mark);
  }

  // Adds provider options to the last message.
  #addOptions(options: ProviderData): void {
    const last = this.messages.pop();
    if (last === undefined) return;
    const { providerOptions: own = {} } = last;
    const merged = Object.entries(options).map(([name, each]) => [name, { ...own[name], ...each }]);
    this.messages.push({ ...last, providerOptions: { ...own, ...Object.fromEntries(merged) } });
  }

  // True for instructions and messages of earlier turns.
  #isEarlier(source: Message | undefined): boolean {
    const { runId } = this.#options;
    return runId !== undefined && source?.metadata?.runId !== runId;
  }

  #append(message: PromptMessage, source: Message | undefined): void {
    const isSystem = message.role === "system";
    if (isSystem && (!this.#hasBegun || this.#rules.system === "anywhere")) this.#push(message);
    else if (isSystem) this.#addUser([foldedSystem(message.content)]);
    else if (message.role === "tool") this.#addResults(message.content.map((part) => this.#result(this.#named(part))));
    else if (message.role === "assistant") this.#addAssistant(message.content.map((part) => this.#assistantPart(part)));
    else this.#addUser(this.#userParts(message.content), source);
  }

  /** Replaces the files that the model does not fetch itself. */
  async resolveUrls(downloads: Downloads): Promise<void> {
    for (const { place, mayRefuse } of this.#withUrls) {
      const message = this.messages[place] as Extract<PromptMessage, { role: "user" }>;
      const content = await Promise.all(
        message.content.map(async (part) => {
          if (!isUrlFile(part)) return part;
          // A user can send another message; what a tool returned or an earlier turn left must not end the run.
          return this.#fitting(await (mayRefuse ? downloads.fileFor(part) : downloads.fileOrMarker(part)));
        }),
      );
      this.messages[place] = { ...message, content };
    }
    this.#withUrls = [];
    this.hasUrls = false;
  }

  #push(message: PromptMessage): void {
    if (message.role !== "tool") this.#showResultFiles();
    this.#growing = undefined;
    this.messages.push(message);
  }

  #showResultFiles(): void {
    const content = this.#resultFiles;
    if (content.length === 0) return;
    this.#resultFiles = [];
    this.#addUser(content);
  }

  #addUser(content: UserPart[], source?: Message): void {
    const { afterResult } = this.#rules;
    if (afterResult !== undefined && this.messages.at(-1)?.role === "tool")
      this.#push({ role: "assistant", content: [{ type: "text", text: afterResult }] });
    this.#hasBegun = true;
    if (content.some(isUrlFile)) {
      this.#withUrls.push({ place: this.messages.length, mayRefuse: this.#isInput(source) });
      this.hasUrls = true;
    }
    this.#push({ role: "user", content });
  }

  // A file in the input of the run that cannot be fetched refuses the run. A message that joined is not input: another user may have
  // started the run.
  #isInput(source: Message | undefined): boolean {
    return source?.role === "user" && source.metadata?.isJoined !== true && !this.#isEarlier(source);
  }

  // A message of which nothing can be sent is left out: providers refuse it.
  #addAssistant(content: AssistantPart[]): void {
    const { opening } = this.#rules;
    if (content.length === 0) return;
    if (opening !== undefined && !this.#hasBegun) this.#addUser([{ type: "text", text: opening }]);
    this.#hasBegun = true;
    this.#push({ role: "assistant", content });
  }

  #addResults(results: PromptToolResult[]): void {
    if (this.#growing !== undefined) {
      this.#growing.push(...results);
      return;
    }
    this.#hasBegun = true;
    const last = this.messages.at(-1);
    const before = last?.role === "tool" ? (this.messages.pop() as typeof last) : undefined;
    this.#push({ ...before, role: "tool", content: [...(before?.content ?? []), ...results] });
    this.#growing = (this.messages.at(-1) as { content: PromptToolResult[] }).content;
  }

  // A result without files is text: as a list of parts, some packages would send it as JSON.
  #result(part: PromptToolResult): PromptToolResult {
    const { output } = part;
    if (output.type !== "content") return part;
    const value = output.value.map((each) => this.#resultFile(each, part.toolName));
    if (value.some(({ type }) => type === "file")) return { ...part, output: { ...output, value } };
    const text = value.map((each) => (each as PromptText).text).join("\n");
    return { ...part, output: { type: "text", value: text } };
  }

  #resultFile(part: UserPart, toolName: string): UserPart {
    const fitting = this.#fitting(part);
    if (fitting.type === "text") return fitting;
    const isData = fitting.data.type === "data";
    if (isData && fitsMediaType(fitting.mediaType, this.#rules.resultTakes)) return fitting;
    this.#resultFiles.push({ type: "text", text: `[returned by the tool "${toolName}"]` }, fitting);
    return markerWith(fitting, "shown below");
  }

  #assistantPart(part: AssistantPart): AssistantPart {
    if (part.type === "tool-call")
      return (part as { providerExecuted?: boolean }).providerExecuted ? part : this.#named(part);
    if (part.type !== "file") return part;
    return this.#rules.assistantFiles === false ? markerOf(part) : (brokenMarkerOf(part) ?? part);
  }

  // The same change for a call and its result, so that they stay a pair.
  #named<Part extends { readonly toolCallId: string; readonly toolName: string }>(part: Part): Part {
    const { callId, toolName } = this.#rules;
    if (callId.test(part.toolCallId) && toolName.test(part.toolName)) return part;
    return {
      ...part,
      toolCallId: validCallId(part.toolCallId, callId),
      toolName: validToolName(part.toolName, toolName),
    };
  }

  // Providers refuse blank text, and messages without any part.
  #userParts(content: readonly UserPart[]): UserPart[] {
    const parts = content.map((part) => this.#fitting(part));
    const worth = parts.filter((part) => part.type !== "text" || part.text.trim() !== "");
    if (worth.length === 0) return [{ type: "text", text: "[content that cannot be shown]" }];
    const { besideFiles } = this.#rules;
    const needsText = besideFiles !== undefined && worth.every(({ type }) => type === "file");
    return needsText ? [{ type: "text", text: besideFiles }, ...worth] : worth;
  }

  #fitting(part: UserPart): UserPart {
    if (part.type !== "file") return part;
    const { takes, fileIds } = this.#rules;
    if ((part.data.type as string) === "reference")
      return fileIds === false && isOpenAIFile(part) ? markerOf(part) : part;
    const broken = brokenMarkerOf(part);
    if (broken !== undefined) return broken;
    return fitsMediaType(part.mediaType, takes) ? part : (textOfFile(part) ?? markerOf(part));
  }
}

function isUrlFile(part: { readonly type: string }): part is UrlFile {
  return part.type === "file" && (part as PromptFile).data.type === "url";
}

// A provider may still take a reference to a file that was uploaded to itself.
function isOpenAIFile({ data }: PromptFile): boolean {
  const { reference } = data as { readonly reference?: object };
  return Object.keys(reference ?? {}).every((provider) => provider === "openai");
}

function foldedSystem(text: string): PromptText {
  return { type: "text", text: `[System message]\n${text}` };
}
