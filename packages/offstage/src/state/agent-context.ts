// AgentContext: typed key-value state shared by the tools, hooks, guardrails and subagents of a run. The model never sees it.
import { isObject } from "../base/json.ts";
import { checkValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";

/** A small typed map that travels with a run. */
export class AgentContext<Values extends object = Record<string, unknown>> {
  // Keyed by any key, so that a context with known values also fits a parameter with unknown ones.
  readonly #values: Map<PropertyKey, unknown>;

  constructor(values?: Partial<Values> | null) {
    checkValue("values", values ?? undefined, { isFit: isObject, words: "an object of values" });
    this.#values = new Map(Object.entries(values ?? {}));
  }

  get<Key extends keyof Values>(key: Key): Values[Key] | undefined {
    return this.#values.get(key) as Values[Key] | undefined;
  }

  /** The value of a key that must be there. Throws `invalid-argument` if it is not. */
  require<Key extends keyof Values>(key: Key): NonNullable<Values[Key]> {
    const value = this.get(key);
    if (value !== undefined && value !== null) return value;
    const sentence = `The context has no "${String(key)}". Pass it to the run: run(input, { context: { ${String(key)} } }).`;
    throw new OffstageError("invalid-argument", sentence);
  }

  set<Key extends keyof Values>(key: Key, value: Values[Key]): this {
    this.#values.set(key, value);
    return this;
  }

  has(key: keyof Values): boolean {
    return this.#values.has(key);
  }

  delete(key: keyof Values): boolean {
    return this.#values.delete(key);
  }

  /** The values as a plain object. */
  toJSON(): Partial<Values> {
    return Object.fromEntries(this.#values) as Partial<Values>;
  }
}

/** The values of a context of unknown type. An agent without a declared context has it. */
// biome-ignore lint/suspicious/noExplicitAny: anything fits, as long as no type is declared
export type AnyValues = any;

/** A context with these values. Without a declared type, its values are unknown. */
export type ContextOf<Values extends object> = AgentContext<
  Record<string, unknown> extends Values ? Record<string, unknown> : Values
>;

/** Returns a context as it is, and makes a new one from plain values. */
export function contextOf<Values extends object>(
  given: AgentContext<Values> | Partial<Values> | null | undefined,
): AgentContext<Values> {
  return given instanceof AgentContext ? given : new AgentContext<Values>(given);
}
