// The options of agents, runs, resume() and asTool(). Types only: config/option-rules.ts checks them.
import type { AgentMemory } from "../../memory/agent-memory.ts";
import type { Compactor } from "../../memory/compaction/compactor.ts";
import type { TextMemory } from "../../memory/text-memory.ts";
import type { Message } from "../../messages/message.ts";
import type { Download } from "../../models/downloads.ts";
import type { AnyModel } from "../../models/model.ts";
import type { ModelSettings } from "../../models/model-settings.ts";
import type { RetryOptions } from "../../models/retry.ts";
import type { Journal } from "../../sessions/ports/journal.ts";
import type { SessionPort } from "../../sessions/ports/session.ts";
import type { AgentContext, AnyValues, ContextOf } from "../../state/agent-context.ts";
import type { ErrorPolicy } from "../../state/criteria/errors.ts";
import type { Criterion, CriterionFunction } from "../../state/criterion.ts";
import type { Processor } from "../../state/processor.ts";
import type { PriceTable } from "../../tokens/price-of.ts";
import type { TokenCounting } from "../../tokens/token-counter.ts";
import type { HostedTool } from "../../tools/hosted-tool.ts";
import type { AnySchema, OutputOf } from "../../tools/schema.ts";
import type { Remember, Tool, ToolRunOptions } from "../../tools/tool.ts";
import type { TracingOptions } from "../../tracing/tracing-options.ts";
import type { Decisions, OnApproval } from "./approvals.ts";
import type { Driver } from "./driver.ts";
import type { InputGuardrail, OutputGuardrail, ToolInputGuardrail, ToolOutputGuardrail } from "./guardrails.ts";
import type { AgentHooks } from "./hooks.ts";

/** The second argument of a function that decides about a step. */
export interface StepOptions {
  /** From 1. */
  readonly step: number;
  readonly runId: string;
  readonly signal: AbortSignal;
}

/** Decides about a step: called once before each step, and again when a run is resumed. */
export type StepFunction<Value, Values extends object = AnyValues> = (
  context: ContextOf<Values>,
  options: StepOptions,
) => Value | Promise<Value>;

/** The system prompt: text, or a function that returns it. */
export type Instructions<Values extends object = AnyValues> = string | StepFunction<string, Values>;

/** A tool of an agent: your own, or one that the provider runs. */
export type AgentTool<Values extends object = AnyValues> = Tool<Values> | HostedTool;

/**
 * The conversation that a memory is for; for a subagent, the one of the outermost run. Sessions of two tenants may have the same
 * id: use both.
 */
export interface MemoryPlace {
  /** Undefined for a run without a session. */
  readonly sessionId: string | undefined;
  /** The namespace of the session's store; empty if it has none. */
  readonly namespace: string;
}

/** Gives the memory of a conversation. Called at the start of each run. */
export type MemoryFunction = (place: MemoryPlace) => AgentMemory | TextMemory | Promise<AgentMemory | TextMemory>;

/** The context of a run: its values, or an `AgentContext` with them. */
export type ContextInput<Values extends object> =
  Record<string, unknown> extends Values ? object : Values | AgentContext<Values>;

/** `Values` is the type of the context that runs are given; it is declared, never inferred. */
export interface AgentOptions<Output = string, Values extends object = AnyValues> {
  /** Default "agent". */
  readonly name?: string | undefined;
  /** A language model of any AI SDK provider, or a function that chooses one for each step. */
  readonly model: AnyModel | StepFunction<AnyModel, NoInfer<Values>>;
  /** The system prompt, or a function that returns it for each step. */
  readonly instructions?: Instructions<NoInfer<Values>> | undefined;
  /** The purpose of the agent. As a subagent, it is shown to its parent's model. */
  readonly description?: string | undefined;
  /** Tools, hosted tools of the provider among them; or a function that returns those of each step. */
  readonly tools?:
    | readonly AgentTool<NoInfer<Values>>[]
    | StepFunction<readonly AgentTool<NoInfer<Values>>[], NoInfer<Values>>
    | undefined;
  /** Keeps the tool trace out of `state.messages`. Default false. */
  readonly separateToolTrace?: boolean | undefined;
  /** How much the model sees of the tool calls of earlier turns of a session. Default "digest": the calls, clipped. */
  readonly toolHistory?: Remember | undefined;
  /** Your own processors. They wrap the built-in ones, so their code after `next` runs last. */
  readonly processors?: readonly Processor[] | undefined;
  /** Criteria in addition to the defaults (step limit, tool-call presence). A function that returns true stops the run. */
  readonly stopWhen?: Criterion | CriterionFunction | readonly (Criterion | CriterionFunction)[] | undefined;
  /** Whether tool errors end a run. Default "continue": the model sees them and goes on. */
  readonly errorPolicy?: ErrorPolicy | undefined;
  readonly hooks?: AgentHooks<NoInfer<Values>> | undefined;
  /** Decides about calls that need approval, and answers questions of tools, without pausing the run. */
  readonly onApproval?: OnApproval<NoInfer<Values>> | undefined;
  readonly inputGuardrails?: readonly InputGuardrail<NoInfer<Values>>[] | undefined;
  readonly outputGuardrails?: readonly OutputGuardrail<NoInfer<Values>>[] | undefined;
  readonly toolInputGuardrails?: readonly ToolInputGuardrail<NoInfer<Values>>[] | undefined;
  readonly toolOutputGuardrails?: readonly ToolOutputGuardrail<NoInfer<Values>>[] | undefined;
  /** The schema of the answer. `result.output` is then the checked value. */
  readonly output?: AnySchema<Output> | undefined;
  /** How many times an answer that does not match `output` is sent back to the model. Default 2. */
  readonly outputRetries?: number | undefined;
  /** The protocol between the agent and its model. Default: tool calling. */
  readonly driver?: Driver | undefined;
  /** Settings of every model call, such as the temperature. */
  readonly modelSettings?: ModelSettings | undefined;
  /**
   * "auto" asks the provider to cache the prompt up to the end of the instructions and tools, and up to the end of the last turn. For
   * Anthropic, Claude and Nova on Amazon Bedrock, and OpenRouter; other providers cache by themselves.
   */
  readonly cache?: "auto" | undefined;
  /** Fetches files at URLs that the model does not fetch itself, once per URL and run. Without it they are refused. */
  readonly download?: Download | undefined;
  /** Retries of failed model calls. */
  readonly retry?: RetryOptions | undefined;
  /** The maximum number of steps per run. Default 20. */
  readonly maxSteps?: number | undefined;
  /** The number of tools that may run at the same time. Default 16. */
  readonly maxParallelTools?: number | undefined;
  /** Chooses which messages the model sees. A memory belongs to one conversation; pass a function if there are several. */
  readonly memory?:
    | AgentMemory
    | TextMemory
    | ((place: MemoryPlace) => AgentMemory | TextMemory | Promise<AgentMemory | TextMemory>)
    | undefined;
  /** The token budget of `memory`. Default 8,000. */
  readonly memoryTokens?: number | undefined;
  /** Shortens model input that exceeds a limit. Stored messages stay complete. */
  readonly compaction?: Compactor | undefined;
  readonly tokenCounter?: TokenCounting | undefined;
  /** Prices of models, for `result.cost`, `step.cost` and cost limits. They come before the list prices. */
  readonly prices?: PriceTable | undefined;
  /** The number of messages that `agent.messages` keeps. Default 1,000; 0 turns it off. */
  readonly keepMessages?: number | undefined;
  /** The session of every run that does not name another. A subagent does not use it: it is recorded under its caller's run. */
  readonly session?: SessionPort | undefined;
  /** False turns tracing off for this agent. */
  readonly tracing?: TracingOptions | false | undefined;
}

export interface RunOptions<Values extends object = AnyValues> {
  /** The id of the run. A recorded run with this id is refused with `run-exists`. Default: a new id. */
  readonly runId?: string | undefined;
  /** The conversation to continue. The run stores its input and its answer there. */
  readonly session?: SessionPort | undefined;
  /** The number of earlier messages to load, in whole turns. Default 50, or as many as memory or compaction need. */
  readonly historyLimit?: number | undefined;
  /** The token budget for these messages; the newest turn is always complete. Default: no limit. */
  readonly historyTokens?: number | undefined;
  /**
   * If another run is using the session: wait for it, fail with `session-busy`, or say the input to that run and resolve with its
   * result. Default "queue".
   */
  readonly onBusy?: "queue" | "reject" | "steer" | undefined;
  /** "everything" stores tool messages in the session too. Default "conversation". */
  readonly persist?: "conversation" | "everything" | undefined;
  /** Key-value state for tools, hooks and guardrails: an `AgentContext`, or an object with its values. */
  readonly context?: ContextInput<Values> | undefined;
  readonly hooks?: AgentHooks<Values> | undefined;
  /** Decides about calls that need approval, and answers questions of tools, without pausing the run. Default: the agent's. */
  readonly onApproval?: OnApproval<Values> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Overrides the agent's step limit. */
  readonly maxSteps?: number | undefined;
  readonly tracing?: TracingOptions | false | undefined;
}

/** The options of a run as arguments: they may be left out, unless the agent's context has values that must be there. */
export type OptionArguments<Options, Values extends object> =
  Record<string, never> extends Values
    ? [options?: Options]
    : [options: Options & { readonly context: ContextInput<Values> }];

/** A store, as far as `resume()` needs it: finds a run by its id. */
export interface RunSource {
  readonly runs: { journal(runId: string): Promise<Journal | undefined> };
}

/** The options of `resume()`. */
export interface ResumeOptions<Values extends object = AnyValues> extends Omit<RunOptions<Values>, "runId">, Decisions {
  /** The store in which the run is recorded. Its session, passed as `session`, works too. */
  readonly store?: RunSource | undefined;
}

/** The input of a subagent's tool. */
export type SubagentInput<Schema> = Schema extends undefined ? { prompt: string } : OutputOf<Schema>;

/** The options of `asTool()`. */
export interface SubagentOptions<Schema extends AnySchema | undefined = undefined> {
  /** The schema of the tool's input. Default: `{ prompt }`. */
  readonly input?: Schema | undefined;
  /** Turns the input into the message for the subagent. Default: the prompt, or the input as JSON. */
  readonly prompt?: ((input: SubagentInput<Schema>) => string | Message | Promise<string | Message>) | undefined;
  /** The name of the tool. Default: the agent's name. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** How deep subagents may nest, counted from the outermost run. Default 3. */
  readonly maxDepth?: number | undefined;
  /** The maximum number of steps per call. Default: the agent's own limit. */
  readonly maxSteps?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** Whether each call needs approval before the subagent starts. The subagent's own tools ask separately. */
  readonly needsApproval?:
    | boolean
    | ((input: SubagentInput<Schema>, options: ToolRunOptions) => boolean | Promise<boolean>)
    | undefined;
  /** How much the parent's later turns see of the subagent's answers. Default: the parent's `toolHistory`. */
  readonly remember?: Remember | undefined;
}

/** The input of a run: text, one message, or several. */
export type RunInput = string | Message | readonly Message[];
