// The forms that each provider accepts, as data. outgoing-prompt.ts applies it to the outgoing copy of a prompt; stored messages never change.

import type { ProviderData } from "./model-settings.ts";

/** The URLs that a model fetches itself, by media type such as "image/*" or "*". */
export type SupportedUrls = Readonly<Record<string, readonly RegExp[]>>;

export interface ProviderRules {
  /** The ids of tool calls that it accepts. Others are replaced by nine letters and digits, in calls and results alike. */
  readonly callId: RegExp;
  /** The names of tools that it accepts. */
  readonly toolName: RegExp;
  /** The places of system messages. With "front", later ones are sent as user messages that are marked as such. */
  readonly system: "anywhere" | "front";
  /** The user message in front of a conversation that begins with an assistant message, if it needs one. */
  readonly opening?: string;
  /** The assistant message between a tool result and a user message, if it needs one. */
  readonly afterResult?: string;
  /** The text of a user message that has only files, if it needs one. */
  readonly besideFiles?: string;
  /** The media types of files that it takes from users. Text files of other types are sent as text; the rest as a marker. */
  readonly takes: readonly string[];
  /** The media types of files that it takes in tool results. Others that it takes from users follow in a user message. */
  readonly resultTakes: readonly string[];
  /** URLs that it fetches although the model does not list them. With "none", it fetches no URL although the model lists some. */
  readonly urls?: SupportedUrls | "none";
  /** False if it takes no ids of files that were uploaded to OpenAI. */
  readonly fileIds?: false;
  /** False if it takes no files in assistant messages. */
  readonly assistantFiles?: false;
  /** How a message asks it to cache the prompt up to its end. Undefined if it caches by itself, or not at all. */
  readonly cache?: CacheRule;
}

export interface CacheRule {
  /** The provider options of such a message. */
  readonly mark: ProviderData;
  /** The ids of the models that accept it. Default: all. */
  readonly models?: RegExp;
}

const word40 = /^[A-Za-z0-9_-]{1,40}$/;
const word64 = /^[A-Za-z0-9_-]{1,64}$/;
const webImages: SupportedUrls = { "image/*": [/^https?:\/\//] };
const commonImages = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const besideFiles = "[See the attached files.]";
const opening = "[The conversation begins with a message of the assistant.]";

/** For providers that are not in the table: OpenAI-compatible servers and models of your own. */
export const generalRules: ProviderRules = {
  callId: /^[A-Za-z0-9_.:-]{1,64}$/,
  toolName: word64,
  system: "anywhere",
  takes: ["image/*", "video/*", "audio/wav", "audio/mpeg", "audio/mp3", "application/pdf", "text/*"],
  resultTakes: [],
};

const openAI: ProviderRules = {
  callId: word40,
  toolName: word64,
  system: "anywhere",
  takes: ["image/*", "audio/wav", "audio/mpeg", "audio/mp3", "application/pdf"],
  resultTakes: [],
  assistantFiles: false,
};

const openAIResponses: ProviderRules = {
  ...openAI,
  callId: word64,
  takes: ["image/*", "application/pdf"],
  resultTakes: ["image/*", "application/pdf"],
};

const ephemeral = { cacheControl: { type: "ephemeral" } };

const anthropic: ProviderRules = {
  callId: word64,
  toolName: word64,
  system: "front",
  opening,
  takes: [...commonImages, "application/pdf", "text/plain"],
  resultTakes: [...commonImages, "application/pdf"],
  fileIds: false,
  assistantFiles: false,
  cache: { mark: { anthropic: ephemeral } },
};

// Before Gemini 3, a function response holds no files, and the package would send one response for each part.
const google: ProviderRules = {
  callId: word64,
  toolName: /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/,
  system: "front",
  opening,
  takes: ["image/*", "audio/*", "video/*", "application/pdf", "text/*"],
  resultTakes: [],
  fileIds: false,
};

const bedrockFiles = [
  ...commonImages,
  "video/*",
  "application/pdf",
  "application/msword",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "application/vnd.ms-excel",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  "text/csv",
  "text/html",
  "text/plain",
  "text/markdown",
];

const bedrock: ProviderRules = {
  callId: word64,
  toolName: word64,
  system: "front",
  opening,
  besideFiles,
  takes: bedrockFiles,
  resultTakes: bedrockFiles,
  fileIds: false,
  assistantFiles: false,
  // Other models refuse cache points.
  cache: { mark: { bedrock: { cachePoint: { type: "default" } } }, models: /anthropic\.claude|amazon\.nova/ },
};

const mistral: ProviderRules = {
  callId: /^[A-Za-z0-9]{9}$/,
  toolName: word64,
  system: "front",
  afterResult: "I have read the results.",
  takes: ["image/*", "application/pdf"],
  resultTakes: [],
  urls: webImages,
  fileIds: false,
  assistantFiles: false,
};

const openRouter: ProviderRules = {
  callId: word40,
  toolName: word64,
  system: "anywhere",
  takes: ["image/*", "video/*", "audio/wav", "audio/mpeg", "audio/mp3", "application/pdf"],
  resultTakes: ["image/*", "video/*", "audio/wav", "audio/mpeg", "audio/mp3", "application/pdf"],
  urls: webImages,
  fileIds: false,
  cache: { mark: { openrouter: ephemeral } },
};

// Ollama packages list image URLs that their server cannot fetch.
const ollama: ProviderRules = {
  callId: word64,
  toolName: word64,
  system: "anywhere",
  besideFiles,
  takes: ["image/*"],
  resultTakes: [],
  urls: "none",
  fileIds: false,
  assistantFiles: false,
};

// A script shows a tool's files where the tool returned them.
const scripted: ProviderRules = { ...generalRules, resultTakes: generalRules.takes };

/** By the beginning of `model.provider`, up to a ".", "-" or "/". The longest one that fits counts. */
const rulesByProvider: Readonly<Record<string, ProviderRules>> = {
  "amazon-bedrock": bedrock,
  anthropic,
  azure: openAI,
  "azure.responses": openAIResponses,
  bedrock,
  "bedrock.anthropic": anthropic,
  google,
  "google.vertex.anthropic": anthropic,
  mistral,
  offstage: scripted,
  ollama,
  openai: openAI,
  "openai.responses": openAIResponses,
  openrouter: openRouter,
  "vertex.anthropic": anthropic,
};

/** The rules of the provider with this name. */
export function rulesOf(provider: string): ProviderRules {
  const known = Object.keys(rulesByProvider).filter((key) => isBeginning(key, provider));
  const [longest = ""] = known.sort((a, b) => b.length - a.length);
  return rulesByProvider[longest] ?? generalRules;
}

function isBeginning(key: string, provider: string): boolean {
  return provider.startsWith(key) && /^(?:[./-]|$)/.test(provider.slice(key.length));
}

/** True for a media type that one of the patterns covers. A type of unknown detail, such as "image/*", fits any type of its kind. */
export function fitsMediaType(mediaType: string, patterns: readonly string[]): boolean {
  const [kind] = mediaType.split("/");
  return patterns.some((pattern) => {
    if (pattern === mediaType || pattern === "*" || pattern === "*/*" || pattern === `${kind}/*`) return true;
    return mediaType === `${kind}/*` && pattern.startsWith(`${kind}/`);
  });
}

/** True if a URL of this media type is among those that a model fetches itself. */
export function listsUrl(urls: SupportedUrls, url: string, mediaType: string): boolean {
  const [kind] = mediaType.split("/");
  return ["*", "*/*", `${kind}/*`, mediaType].some((key) => urls[key]?.some((pattern) => pattern.test(url)));
}
