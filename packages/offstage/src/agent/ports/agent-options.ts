// What an agent, a run and a subagent can be told. Types and their defaults; nothing here acts.
import type { AgentMemory } from "../../memory/agent-memory.ts";
import type { Compactor } from "../../memory/compaction/compactor.ts";
import type { TextMemory } from "../../memory/text-memory.ts";
import type { Message } from "../../messages/message.ts";
import type { AnyModel } from "../../models/model.ts";
import type { ModelSettings } from "../../models/model-settings.ts";
import type { RetryOptions } from "../../models/retry.ts";
import type { Journal } from "../../sessions/journal.ts";
import type { SessionPort } from "../../sessions/session.ts";
import type { AgentContext } from "../../state/agent-context.ts";
import type { ErrorPolicy } from "../../state/criteria/errors.ts";
import type { Criterion, CriterionFunction } from "../../state/criterion.ts";
import type { Processor } from "../../state/processor.ts";
import type { TokenCounting } from "../../tokens/token-counter.ts";
import type { AnySchema } from "../../tools/schema.ts";
import type { Remember, Tool, ToolRunOptions } from "../../tools/tool.ts";
import type { TracingOptions } from "../../tracing/tracing-options.ts";
import type { Decisions } from "./approvals.ts";
import type { Driver } from "./driver.ts";
import type { InputGuardrail, OutputGuardrail, ToolInputGuardrail, ToolOutputGuardrail } from "./guardrails.ts";
import type { AgentHooks } from "./hooks.ts";

/** The system text, or a function that makes it when a run begins. */
export type Instructions = string | ((context: AgentContext) => string | Promise<string>);

export interface AgentOptions<Output = string> {
  /** Default "agent". */
  readonly name?: string | undefined;
  /** Any AI SDK provider's language model. */
  readonly model: AnyModel;
  readonly instructions?: Instructions | undefined;
  /** What the agent is for; subagents show it to their parents. */
  readonly description?: string | undefined;
  readonly tools?: readonly Tool[] | undefined;
  /** Keeps the tool trace out of `state.messages`. Default false. */
  readonly separateToolTrace?: boolean | undefined;
  /** What later turns see of earlier turns' tools. Default "none". */
  readonly toolHistory?: Remember | undefined;
  /** Your own processors; they act after the built-in ones. */
  readonly processors?: readonly Processor[] | undefined;
  /** Criteria beside the default ones (step limit, tool-call presence). A function that returns true stops the run. */
  readonly stopWhen?: Criterion | CriterionFunction | readonly (Criterion | CriterionFunction)[] | undefined;
  /** What tool errors mean for a run. Default "continue": the model deals with them. */
  readonly errorPolicy?: ErrorPolicy | undefined;
  readonly hooks?: AgentHooks | undefined;
  readonly inputGuardrails?: readonly InputGuardrail[] | undefined;
  readonly outputGuardrails?: readonly OutputGuardrail[] | undefined;
  readonly toolInputGuardrails?: readonly ToolInputGuardrail[] | undefined;
  readonly toolOutputGuardrails?: readonly ToolOutputGuardrail[] | undefined;
  /** A schema the answer must fit; `result.output` is then the checked value. */
  readonly output?: AnySchema<Output> | undefined;
  /** How often an answer that does not fit is sent back. Default 2. */
  readonly outputRetries?: number | undefined;
  /** How the agent speaks with its model. Default: tool calling. */
  readonly driver?: Driver | undefined;
  /** Temperature and the like, for every model call. */
  readonly modelSettings?: ModelSettings | undefined;
  /** When and how often a failed model call is tried again. */
  readonly retry?: RetryOptions | undefined;
  /** Default 20. */
  readonly maxSteps?: number | undefined;
  /** How many tools run at once. Default 16. */
  readonly maxParallelTools?: number | undefined;
  /** Chooses what the model is shown of the conversation. One memory holds one conversation: pass a function for several. */
  readonly memory?:
    | AgentMemory
    | TextMemory
    | ((sessionId: string | undefined) => AgentMemory | TextMemory)
    | undefined;
  /** How many tokens of memory the model is shown. Default 8,000. */
  readonly memoryTokens?: number | undefined;
  /** Makes model input shorter when it passes a limit; what is stored stays whole. */
  readonly compaction?: Compactor | undefined;
  readonly tokenCounter?: TokenCounting | undefined;
  /** How many messages `agent.messages` holds. Default 1,000; 0 turns it off. */
  readonly keepMessages?: number | undefined;
  /** Every run uses this session unless it names another; as a subagent it is recorded beneath its caller instead. */
  readonly session?: SessionPort | undefined;
  /** False turns tracing off for this agent. */
  readonly tracing?: TracingOptions | false | undefined;
}

export interface RunOptions {
  /** The conversation to continue and to remember in. */
  readonly session?: SessionPort | undefined;
  /** How many earlier messages to load from it: whole turns. Default 50. */
  readonly historyLimit?: number | undefined;
  /** How many tokens of them to show at most; the newest turn is always whole. Default: no limit. */
  readonly historyTokens?: number | undefined;
  /** What to do while another run holds the session. Default "queue". */
  readonly onBusy?: "queue" | "reject" | undefined;
  /** "everything" stores tool messages in the session too. Default "conversation". */
  readonly persist?: "conversation" | "everything" | undefined;
  /** Key-value state for tools, hooks and guardrails: an `AgentContext`, or the values to make one of. */
  readonly context?: object | undefined;
  readonly hooks?: AgentHooks | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Overrides the agent's. */
  readonly maxSteps?: number | undefined;
  readonly tracing?: TracingOptions | false | undefined;
}

/** Where runs can be found by id: a store. */
export interface RunSource {
  readonly runs: { journal(runId: string): Promise<Journal | undefined> };
}

/** What can be told to a run that is taken up again. */
export interface ResumeOptions extends RunOptions, Decisions {
  /** Where the run is recorded. Its session, as `session`, does as well. */
  readonly store?: RunSource | undefined;
}

/** What an agent is told when it becomes a tool of another. */
export interface SubagentOptions {
  /** What the parent's model calls it. Default: the agent's name. */
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  /** How deep subagents may nest, counted from the first run. Default 3. */
  readonly maxDepth?: number | undefined;
  /** Steps for each call. Default: the agent's own limit. */
  readonly maxSteps?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** Whether somebody must approve each call before the agent begins. Its own tools ask for themselves. */
  readonly needsApproval?:
    | boolean
    | ((input: { prompt: string }, options: ToolRunOptions) => boolean | Promise<boolean>)
    | undefined;
  /** What later turns of the parent see of its answers. Default: the parent's `toolHistory`. */
  readonly remember?: Remember | undefined;
}

/** What a run can be started with: text, one message, or several. */
export type RunInput = string | Message | readonly Message[];
