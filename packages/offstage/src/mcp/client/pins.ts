// Pins: what a server said about its tools when it was first asked. A changed definition is told, never taken silently.
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { isObject, parseJson } from "../../base/json.ts";
import { OffstageError } from "../../errors.ts";
import type { ListedTool } from "./definitions.ts";
import type { McpToolsOptions } from "./options.ts";
import { shownName } from "./tool-names.ts";

/** A hash for each part of a definition. */
type Pin = Readonly<Record<"description" | "input" | "output" | "hints", string>>;

const partNames: Readonly<Record<keyof Pin, string>> = {
  description: "the description",
  input: "the input schema",
  output: "the output schema",
  hints: "the hints",
};

/** The pins of one server. */
export class Pins {
  readonly #server: string;
  readonly #mode: "warn" | "refuse" | "off";
  readonly #file: string | undefined;
  #known: Map<string, Pin> | undefined;

  constructor({ name, pin = "warn", pinFile }: McpToolsOptions) {
    this.#server = name;
    this.#mode = pin;
    this.#file = pinFile;
  }

  /** The tools that may be used. `warn` is told of every change since the first time. */
  async admit(tools: readonly ListedTool[], warn: (message: string) => void): Promise<readonly ListedTool[]> {
    if (this.#mode === "off") return tools;
    const known = this.#known ?? (await this.#read());
    const isFirst = known === undefined;
    const pins = known ?? new Map<string, Pin>();
    this.#known = pins;
    let isChanged = isFirst;
    const admitted = tools.filter((listed) => {
      const pin = pinOf(listed);
      const change = changeOf(pins.get(listed.name), pin, isFirst);
      if (change === undefined) return true;
      const isRefused = this.#mode === "refuse" && change !== "first";
      if (change !== "first") warn(this.#sentence(listed.name, change, isRefused));
      if (isRefused) return false;
      pins.set(listed.name, pin);
      isChanged = true;
      return true;
    });
    if (isChanged) await this.#write(pins);
    return admitted;
  }

  #sentence(tool: string, change: string, isRefused: boolean): string {
    const did = change === "new" ? `has the new tool ${shownName(tool)}` : `changed ${change} of ${shownName(tool)}`;
    const then = isRefused
      ? ` The tool is left out. ${this.#file === undefined ? "Start anew" : `Remove "${this.#file}"`} to accept it.`
      : "";
    return `The MCP server "${this.#server}" ${did}.${then}`;
  }

  // A file holds the pins of several servers.
  async #read(): Promise<Map<string, Pin> | undefined> {
    const own = (await this.#readFile())[this.#server];
    return isObject(own)
      ? new Map(Object.entries(own).filter((entry): entry is [string, Pin] => isPin(entry[1])))
      : undefined;
  }

  async #readFile(): Promise<Record<string, unknown>> {
    if (this.#file === undefined) return {};
    const text = await readFile(this.#file, "utf8").catch((error: { code?: string }) => {
      if (error.code === "ENOENT") return "{}";
      throw new OffstageError("invalid-argument", `The pin file "${this.#file}" cannot be read.`, { cause: error });
    });
    const held = parseJson(text);
    if (isObject(held)) return held;
    throw new OffstageError(
      "invalid-argument",
      `The pin file "${this.#file}" is not a JSON object. Remove it to start anew.`,
    );
  }

  async #write(pins: ReadonlyMap<string, Pin>): Promise<void> {
    if (this.#file === undefined) return;
    const all = { ...(await this.#readFile()), [this.#server]: Object.fromEntries([...pins].sort()) };
    await mkdir(dirname(this.#file), { recursive: true });
    const draft = `${this.#file}.${process.pid}`;
    await writeFile(draft, `${JSON.stringify(all, undefined, 2)}\n`);
    await rename(draft, this.#file);
  }
}

// "first" if nothing was known of the server, "new" if the tool was not among its tools.
function changeOf(known: Pin | undefined, pin: Pin, isFirst: boolean): string | undefined {
  if (known === undefined) return isFirst ? "first" : "new";
  const parts = (Object.keys(partNames) as (keyof Pin)[]).filter((part) => known[part] !== pin[part]);
  return parts.length === 0 ? undefined : parts.map((part) => partNames[part]).join(" and ");
}

function pinOf({ title, description, inputSchema, outputSchema, annotations }: ListedTool): Pin {
  return {
    description: hash([title, description]),
    input: hash(inputSchema),
    output: hash(outputSchema ?? {}),
    hints: hash(annotations ?? {}),
  };
}

function isPin(value: unknown): value is Pin {
  return isObject(value) && Object.keys(partNames).every((part) => typeof value[part] === "string");
}

// The order of keys means nothing.
function hash(value: unknown): string {
  const sorted = (_: string, held: unknown): unknown =>
    isObject(held) ? Object.fromEntries(Object.entries(held).sort(([a], [b]) => (a < b ? -1 : 1))) : held;
  return createHash("sha256").update(JSON.stringify(value, sorted)).digest("base64url").slice(0, 22);
}
