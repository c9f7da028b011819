// The options of mcpTools(), and their rules.
import { isObject } from "../../base/json.ts";
import {
  checkOptions,
  checkRequired,
  type OptionHints,
  type OptionRule,
  oneOf,
  positiveNumber,
  someFunction,
  someText,
  yesOrNo,
} from "../../base/options.ts";
import { OffstageError } from "../../errors.ts";

/** Gives the token of each request. An `OAuthClientProvider` of the client package works as well. */
export interface McpAuthProvider {
  token(): Promise<string | undefined>;
  /** Called once for all requests that were refused with 401 at the same time, which are then sent again. */
  onUnauthorized?: ((context: never) => Promise<void>) | undefined;
}

/** The part of an `OAuthClientProvider` by which it is recognised. */
export interface McpOAuthProvider {
  readonly clientMetadata: object;
  tokens(): unknown;
}

/** A call of a server's tool, as `approve` sees it. */
export interface McpCall {
  /** The name of the tool at its server. */
  readonly tool: string;
  readonly input: unknown;
  /** The server's hints about its tool. Untrusted. */
  readonly hints: McpHints;
}

/** The hints of a server about the effects of a tool. Untrusted unless you trust the server. */
export interface McpHints {
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
}

export interface McpToolsOptions {
  /** The name of the server: the first part of the names of its tools. Letters, digits, `_` and `-`, at most 32. */
  readonly name: string;
  /** The address of a server on HTTP. */
  readonly url?: string | URL | undefined;
  /** The program of a server that runs as a child process. */
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /** The environment of the child process besides PATH and HOME. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The working directory of the child process. Default: that of this process. */
  readonly cwd?: string | undefined;
  readonly authProvider?: McpAuthProvider | McpOAuthProvider | undefined;
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The tools to use, by their names at the server; `*` stands for any characters. Default: all. */
  readonly only?: readonly string[] | undefined;
  /** Which calls wait for approval. Default "never". "unless-read-only" believes the server only with `trustHints`. */
  readonly approve?:
    | "always"
    | "never"
    | "unless-read-only"
    | ((call: McpCall) => boolean | Promise<boolean>)
    | undefined;
  /** Believes what the server says about its tools: that they only read, and that they can be repeated. Default false. */
  readonly trustHints?: boolean | undefined;
  /** Tools that can be called again if the connection is lost during a call, by name, as in `only`. Default: none. */
  readonly idempotent?: readonly string[] | undefined;
  /** If the server cannot be reached, or has no tool that `only` names: reject, or leave it out and warn. Default "fail". */
  readonly onMissing?: "fail" | "leave-out" | undefined;
  /** The time limit of a call, and of connecting. Default 60 s. */
  readonly timeoutMs?: number | undefined;
  /** A longer result is clipped for the model. Default 64 KiB. */
  readonly maxResultBytes?: number | undefined;
  /** If the definition of a tool changed since it was first seen: warn, leave the tool out and warn, or accept it. Default "warn". */
  readonly pin?: "warn" | "refuse" | "off" | undefined;
  /** A JSON file that keeps what was seen, for the next process. Default: none, so that each process starts anew. */
  readonly pinFile?: string | undefined;
  /** Receives each warning. Default: a process warning. */
  readonly onWarning?: ((message: string) => void) | undefined;
}

const texts = (words: string): OptionRule => ({
  isFit: (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
  words,
});
const textsByName: OptionRule = {
  isFit: (value) => isObject(value) && Object.values(value).every((each) => typeof each === "string"),
  words: "an object of texts",
};

const rules: Readonly<Record<keyof McpToolsOptions, OptionRule>> = {
  name: {
    isFit: (value) => typeof value === "string" && /^[A-Za-z0-9_-]{1,32}$/.test(value),
    words: 'text of 1 to 32 letters, digits, "_" or "-"',
  },
  url: { isFit: isHttpUrl, words: "an http or https URL" },
  command: someText,
  args: texts("a list of texts"),
  env: textsByName,
  cwd: someText,
  authProvider: {
    isFit: (value) => isObject(value) && (typeof value.token === "function" || typeof value.tokens === "function"),
    words: "an object with the method token() or tokens()",
  },
  headers: textsByName,
  only: texts("a list of names"),
  approve: {
    isFit: (value) => typeof value === "function" || ["always", "never", "unless-read-only"].includes(value as string),
    words: '"always", "never", "unless-read-only" or a function',
  },
  trustHints: yesOrNo,
  idempotent: texts("a list of names"),
  onMissing: oneOf("fail", "leave-out"),
  timeoutMs: positiveNumber,
  maxResultBytes: positiveNumber,
  pin: oneOf("warn", "refuse", "off"),
  pinFile: someText,
  onWarning: someFunction,
};

const hints: OptionHints = {
  timeout: '"timeoutMs"',
  needsApproval: '"approve"',
  requireApproval: '"approve"',
  allowedTools: '"only"',
  tools: '"only"',
  serverUrl: '"url"',
  fetch: '"headers" or "authProvider"',
};

/** Throws `invalid-argument` for options that are unknown, do not fit, or do not fit together. */
export function checkMcpToolsOptions(options: McpToolsOptions): void {
  checkOptions(options, rules, "mcpTools", hints);
  checkRequired("name", options.name, rules.name);
  const { url, command } = options;
  if ((url === undefined) === (command === undefined))
    throw invalid(`mcpTools() needs either "url" or "command"; found ${url === undefined ? "neither" : "both"}.`);
  const misplaced = (url === undefined ? httpOnly : stdioOnly).find((name) => options[name] !== undefined);
  if (misplaced === undefined) return;
  const [place, other] = url === undefined ? ["url", "command"] : ["command", "url"];
  throw invalid(`"${misplaced}" belongs to a server with "${place}", and "${options.name}" has "${other}".`);
}

const httpOnly = ["authProvider", "headers"] as const;
const stdioOnly = ["args", "env", "cwd"] as const;

function isHttpUrl(value: unknown): boolean {
  const url = value instanceof URL ? value : typeof value === "string" ? URL.parse(value) : null;
  return url !== null && /^https?:$/.test(url.protocol);
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-argument", message);
}
