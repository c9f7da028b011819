// The outgoing copy of a prompt, valid for one provider. The only place that applies provider-rules.ts. It grows at its end; each
// message is adapted once.
import { validCallId, validToolName } from "./call-names.ts";
import { type Downloads, isUrlFile } from "./downloads.ts";
import { brokenMarkerOf, markerOf, markerWith, textOfFile } from "./media.ts";
import type { PromptFile, PromptMessage, PromptText, PromptToolResult } from "./model.ts";
import type { ProviderData } from "./model-settings.ts";
import { fitsMediaType, type ProviderRules } from "./provider-rules.ts";

type AssistantPart = Extract<PromptMessage, { role: "assistant" }>["content"][number];
type UserPart = PromptText | PromptFile;

export class OutgoingPrompt {
  readonly #rules: ProviderRules;
  /** The messages as they are sent. */
  readonly messages: PromptMessage[] = [];
  #hasBegun = false;
  /** The results of the last message, until it is handed out. */
  #growing: PromptToolResult[] | undefined;
  /** The files of these results that go into a user message behind them. */
  #resultFiles: UserPart[] = [];
  /** The places of messages with files at URLs, and whether a file that cannot be sent refuses the run. */
  #withUrls: { readonly place: number; readonly mayRefuse: boolean }[] = [];

  constructor(rules: ProviderRules) {
    this.#rules = rules;
  }

  /**
   * Adds a message at the end, with its provider options. Neighbouring tool results become one message. `isNew` is true for the input
   * of the run: a file in it that cannot be fetched refuses the run, and any other becomes a marker.
   */
  add(message: PromptMessage, isNew = true): void {
    const before = this.messages.at(-1);
    this.#append(message, isNew);
    const { providerOptions } = message;
    // A message of which nothing can be sent is left out.
    const isAdded = message.role === "tool" || this.messages.at(-1) !== before;
    if (providerOptions !== undefined && isAdded) this.addOptions(providerOptions);
  }

  /** Adds provider options to the last message. */
  addOptions(options: ProviderData): void {
    const last = this.messages.pop();
    if (last === undefined) return;
    const { providerOptions: own = {} } = last;
    const merged = Object.entries(options).map(([name, each]) => [name, { ...own[name], ...each }]);
    this.messages.push({ ...last, providerOptions: { ...own, ...Object.fromEntries(merged) } });
  }

  #append(message: PromptMessage, isNew: boolean): void {
    if (message.role === "system" && (!this.#hasBegun || this.#rules.system === "anywhere")) {
      this.#push(message);
      return;
    }
    if (message.role === "tool") this.#addResults(message.content.map((part) => this.#result(this.#named(part))));
    else if (message.role === "assistant") this.#addAssistant(message.content.map((part) => this.#assistantPart(part)));
    else if (message.role === "system") this.#addUser([foldedSystem(message.content)]);
    else this.#addUser(this.#userParts(message.content), isNew);
  }

  /** The list is handed out: its messages do not change any more. */
  seal(): void {
    this.#showResultFiles();
    this.#growing = undefined;
  }

  /** True if files at URLs were added that `resolveUrls` has not seen. */
  get hasUrls(): boolean {
    return this.#withUrls.length > 0;
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
    if (content.some(isUrlFile)) this.#withUrls.push({ place: this.messages.length, mayRefuse });
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
    const toolCallId = validCallId(part.toolCallId, this.#rules.callId);
    const toolName = validToolName(part.toolName, this.#rules.toolName);
    return toolCallId === part.toolCallId && toolName === part.toolName ? part : { ...part, toolCallId, toolName };
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

// A provider may still take a reference to a file that was uploaded to itself.
function isOpenAIFile({ data }: PromptFile): boolean {
  const { reference } = data as { readonly reference?: object };
  return Object.keys(reference ?? {}).every((provider) => provider === "openai");
}

function foldedSystem(text: string): PromptText {
  return { type: "text", text: `[System message]\n${text}` };
}
