// The outgoing copy of a prompt, valid for one provider. The only place that applies provider-rules.ts. It grows at its end; each
// message is adapted once.
import { validCallId, validToolName } from "./call-names.ts";
import type { Downloads, UrlFile } from "./downloads.ts";
import { brokenMarkerOf, markerOf, markerWith, textOfFile } from "./media.ts";
import type { PromptFile, PromptMessage, PromptText, PromptToolResult } from "./model.ts";
import type { ProviderData } from "./model-settings.ts";
import { fitsMediaType, type ProviderRules } from "./provider-rules.ts";

type AssistantPart = Extract<PromptMessage, { role: "assistant" }>["content"][number];
type UserPart = PromptText | PromptFile;

/** A message to send, and its place in the run. */
export interface OutgoingMessage {
  readonly prompt: PromptMessage;
  /** True for the input of the run: a file in it that cannot be fetched refuses the run. In any other message it becomes a marker. */
  readonly isInput?: boolean | undefined;
  /** True for instructions and messages of earlier turns. */
  readonly isEarlier?: boolean | undefined;
}

export interface OutgoingPromptOptions {
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
  /** The places of messages with files at URLs, and whether a file that cannot be sent refuses the run. */
  #withUrls: { readonly place: number; readonly mayRefuse: boolean }[] = [];
  /** The latest place that was considered for a cache mark. */
  #passed: "start" | "instructions" | "turns" = "start";

  constructor(rules: ProviderRules, options: OutgoingPromptOptions = {}) {
    this.#rules = rules;
    this.#options = options;
  }

  /** Adds messages at the end, with their provider options. Neighbouring tool results become one message, within one call. */
  add(added: readonly OutgoingMessage[]): void {
    for (const message of added) this.#add(message);
    this.#showResultFiles();
    this.#growing = undefined;
  }

  #add({ prompt, isInput = false, isEarlier = false }: OutgoingMessage): void {
    const { cacheMark } = this.#options;
    if (cacheMark !== undefined) this.#markCache(cacheMark, prompt.role, isEarlier);
    const before = this.messages.at(-1);
    this.#append(prompt, isInput);
    const { providerOptions } = prompt;
    // A message of which nothing can be sent is left out.
    const isAdded = prompt.role === "tool" || this.messages.at(-1) !== before;
    if (providerOptions !== undefined && isAdded) this.#addOptions(providerOptions);
  }

  // Marks the end of the instructions, and of the last turn before this run: up to there, later prompts begin with the same bytes.
  // Called before each message is added.
  #markCache(mark: ProviderData, role: PromptMessage["role"], isEarlier: boolean): void {
    if (this.#passed === "start" && role !== "system") {
      this.#passed = "instructions";
      this.#addOptions(mark);
    }
    if (this.#passed === "turns" || isEarlier) return;
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

  #append(message: PromptMessage, isInput: boolean): void {
    if (message.role === "system" && (!this.#hasBegun || this.#rules.system === "anywhere")) {
      this.#push(message);
      return;
    }
    if (message.role === "tool") this.#addResults(message.content.map((part) => this.#result(this.#named(part))));
    else if (message.role === "assistant") this.#addAssistant(message.content.map((part) => this.#assistantPart(part)));
    else if (message.role === "system") this.#addUser([foldedSystem(message.content)]);
    else this.#addUser(this.#userParts(message.content), isInput);
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

  #addUser(content: UserPart[], mayRefuse = false): void {
    const { afterResult } = this.#rules;
    if (afterResult !== undefined && this.messages.at(-1)?.role === "tool")
      this.#push({ role: "assistant", content: [{ type: "text", text: afterResult }] });
    this.#hasBegun = true;
    if (content.some(isUrlFile)) {
      this.#withUrls.push({ place: this.messages.length, mayRefuse });
      this.hasUrls = true;
    }
    this.#push({ role: "user", content });
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
