// AgentContext: typed key-value state shared along a run, by its tools, hooks, guardrails and subagents. Not for the model.
import { keepShape } from "../base/keep-shape.ts";

/** A small typed map that travels with a run. */
export class AgentContext<Values extends object = Record<string, unknown>> {
  // Made with the first value: few runs have any. Any key: a context can be taken for one whose values are known.
  #values: Map<PropertyKey, unknown> | undefined;

  constructor(values?: Partial<Values>) {
    if (values) this.#values = new Map(Object.entries(values));
  }

  get<Key extends keyof Values>(key: Key): Values[Key] | undefined {
    return this.#values?.get(key) as Values[Key] | undefined;
  }

  set<Key extends keyof Values>(key: Key, value: Values[Key]): this {
    this.#values ??= new Map();
    this.#values.set(key, value);
    return this;
  }

  has(key: keyof Values): boolean {
    return this.#values?.has(key) ?? false;
  }

  delete(key: keyof Values): boolean {
    return this.#values?.delete(key) ?? false;
  }

  /** The values as a plain object. */
  toJSON(): Partial<Values> {
    return Object.fromEntries(this.#values ?? []) as Partial<Values>;
  }
}

keepShape(new AgentContext());

/** The context of what a caller handed in: one as it is, plain values as a new one. */
export function contextOf<Values extends object>(
  given: AgentContext<Values> | Partial<Values> | undefined,
): AgentContext<Values> {
  return given instanceof AgentContext ? given : new AgentContext<Values>(given);
}
