// AgentBuilder: builds an agent option by option. Immutable: each call returns a new builder, so builders can be shared.
import { checkOptions } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import type { Compactor } from "../memory/compaction/compactor.ts";
import type { Download } from "../models/downloads.ts";
import { checkModelSettings, type ModelSettings } from "../models/model-settings.ts";
import type { RetryOptions } from "../models/retry.ts";
import type { SessionPort } from "../sessions/ports/session.ts";
import type { AnyValues } from "../state/agent-context.ts";
import type { ErrorPolicy } from "../state/criteria/errors.ts";
import type { Criterion, CriterionFunction } from "../state/criterion.ts";
import type { Processor } from "../state/processor.ts";
import type { PriceTable } from "../tokens/price-of.ts";
import type { TokenCounting } from "../tokens/token-counter.ts";
import type { AnySchema } from "../tools/schema.ts";
import type { Remember } from "../tools/tool.ts";
import type { TracingOptions } from "../tracing/tracing-options.ts";
import { Agent } from "./agent.ts";
import { guardrailRules } from "./config/option-rules.ts";
import type { AgentOptions, AgentTool, Instructions, StepFunction } from "./ports/agent-options.ts";
import type { OnApproval } from "./ports/approvals.ts";
import type { Driver } from "./ports/driver.ts";
import type { Guardrails } from "./ports/guardrails.ts";
import type { AgentHooks } from "./ports/hooks.ts";

/**
 * Builds an agent option by option. Tools, processors, criteria, guardrails and model settings are added to the earlier ones;
 * every other option replaces its earlier value.
 */
export class AgentBuilder<Output = string, Values extends object = AnyValues> {
  readonly #options: Partial<AgentOptions<Output, Values>>;

  private constructor(options: Partial<AgentOptions<Output, Values>>) {
    this.#options = options;
  }

  /** A builder without options. The defaults are those of `new Agent`. `Values` declares the type of the context. */
  static base<Values extends object = AnyValues>(): AgentBuilder<string, Values> {
    return new AgentBuilder<string, Values>({});
  }

  withName(name: string): AgentBuilder<Output, Values> {
    return this.#with({ name });
  }

  withDescription(description: string): AgentBuilder<Output, Values> {
    return this.#with({ description });
  }

  withModel(model: AgentOptions<Output, Values>["model"]): AgentBuilder<Output, Values> {
    return this.#with({ model });
  }

  withModelSettings(modelSettings: ModelSettings): AgentBuilder<Output, Values> {
    checkModelSettings(modelSettings);
    return this.#with({ modelSettings: { ...this.#options.modelSettings, ...modelSettings } });
  }

  withInstructions(instructions: Instructions<Values>): AgentBuilder<Output, Values> {
    return this.#with({ instructions });
  }

  /** Adds tools. A function returns the tools of each step, and replaces those that were added before. */
  withTools(
    ...tools: readonly AgentTool<Values>[] | readonly [StepFunction<readonly AgentTool<Values>[], Values>]
  ): AgentBuilder<Output, Values> {
    const [first] = tools;
    if (typeof first === "function") return this.#with({ tools: first });
    const { tools: before = [] } = this.#options;
    if (typeof before === "function")
      throw new OffstageError("invalid-argument", "The tools of this builder are a function. Add the tool there.");
    return this.#with({ tools: [...before, ...(tools as readonly AgentTool<Values>[]).flat()] });
  }

  /** Keeps the tool trace out of the conversation. The model still sees it during the run; steps and journal still have it. */
  withSeparatedToolTrace(separateToolTrace = true): AgentBuilder<Output, Values> {
    return this.#with({ separateToolTrace });
  }

  withToolHistory(toolHistory: Remember): AgentBuilder<Output, Values> {
    return this.#with({ toolHistory });
  }

  withProcessors(...processors: readonly Processor[]): AgentBuilder<Output, Values> {
    return this.#with({ processors: [...(this.#options.processors ?? []), ...processors.flat()] });
  }

  withStopWhen(...criteria: readonly (Criterion | CriterionFunction)[]): AgentBuilder<Output, Values> {
    return this.#with({ stopWhen: [...[this.#options.stopWhen ?? []].flat(), ...criteria.flat()] });
  }

  withErrorPolicy(errorPolicy: ErrorPolicy): AgentBuilder<Output, Values> {
    return this.#with({ errorPolicy });
  }

  withHooks(hooks: AgentHooks<Values>): AgentBuilder<Output, Values> {
    return this.#with({ hooks });
  }

  /** Decides about calls that need approval, and answers questions of tools, without pausing the run. */
  withOnApproval(onApproval: OnApproval<Values>): AgentBuilder<Output, Values> {
    return this.#with({ onApproval });
  }

  withGuardrails(guardrails: Guardrails<Values>): AgentBuilder<Output, Values> {
    checkOptions(guardrails, guardrailRules, "withGuardrails()");
    const {
      inputGuardrails = [],
      outputGuardrails = [],
      toolInputGuardrails = [],
      toolOutputGuardrails = [],
    } = this.#options;
    return this.#with({
      inputGuardrails: [...inputGuardrails, ...(guardrails.input ?? [])],
      outputGuardrails: [...outputGuardrails, ...(guardrails.output ?? [])],
      toolInputGuardrails: [...toolInputGuardrails, ...(guardrails.toolInput ?? [])],
      toolOutputGuardrails: [...toolOutputGuardrails, ...(guardrails.toolOutput ?? [])],
    });
  }

  /** Requires an answer that matches this schema. */
  withOutput<Value>(output: AnySchema<Value>): AgentBuilder<Value, Values> {
    return new AgentBuilder<Value, Values>({ ...(this.#options as Partial<AgentOptions<Value, Values>>), output });
  }

  /** Sets how many times an answer that does not match the schema is sent back to the model. */
  withOutputRetries(outputRetries: number): AgentBuilder<Output, Values> {
    return this.#with({ outputRetries });
  }

  withDriver(driver: Driver): AgentBuilder<Output, Values> {
    return this.#with({ driver });
  }

  withDownload(download: Download): AgentBuilder<Output, Values> {
    return this.#with({ download });
  }

  withCache(cache: AgentOptions["cache"]): AgentBuilder<Output, Values> {
    return this.#with({ cache });
  }

  withRetry(retry: RetryOptions): AgentBuilder<Output, Values> {
    return this.#with({ retry });
  }

  withMaxSteps(maxSteps: number): AgentBuilder<Output, Values> {
    return this.#with({ maxSteps });
  }

  withMaxParallelTools(maxParallelTools: number): AgentBuilder<Output, Values> {
    return this.#with({ maxParallelTools });
  }

  /** Lets a memory choose which messages the model sees. */
  withMemory(memory: NonNullable<AgentOptions["memory"]>, memoryTokens?: number): AgentBuilder<Output, Values> {
    return this.#with({ memory, ...(memoryTokens !== undefined && { memoryTokens }) });
  }

  /** Shortens model input that exceeds a limit. */
  withCompaction(compaction: Compactor): AgentBuilder<Output, Values> {
    return this.#with({ compaction });
  }

  withTokenCounter(tokenCounter: TokenCounting): AgentBuilder<Output, Values> {
    return this.#with({ tokenCounter });
  }

  /** Sets prices of models, which come before the list prices. */
  withPrices(prices: PriceTable): AgentBuilder<Output, Values> {
    return this.#with({ prices });
  }

  /** Sets the session of every run that does not name another. */
  withSession(session: SessionPort): AgentBuilder<Output, Values> {
    return this.#with({ session });
  }

  withTracing(tracing: TracingOptions | false = {}): AgentBuilder<Output, Values> {
    return this.#with({ tracing });
  }

  withKeepMessages(keepMessages: number): AgentBuilder<Output, Values> {
    return this.#with({ keepMessages });
  }

  /** Creates the agent. Throws `invalid-argument` if there is no model. */
  build(): Agent<Output, Values> {
    const { model } = this.#options;
    if (model === undefined)
      throw new OffstageError("invalid-argument", "The agent has no model. Call withModel(…) before build().");
    return new Agent<Output, Values>({ ...this.#options, model });
  }

  #with(options: Partial<AgentOptions<Output, Values>>): AgentBuilder<Output, Values> {
    return new AgentBuilder<Output, Values>({ ...this.#options, ...options });
  }
}
