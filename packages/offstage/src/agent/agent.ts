// Agent: a model, instructions and tools, ready to run. A thin layer over the loop.
import { isObject } from "../base/json.ts";
import { shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import { type Message, parseMessages } from "../messages/message.ts";
import { checkNewMessages } from "../messages/new-content.ts";
import { MessageQuery } from "../query/message-query.ts";
import type { AnyValues } from "../state/agent-context.ts";
import { AgentState } from "../state/agent-state.ts";
import type { AnySchema, TypedSchema } from "../tools/schema.ts";
import { type Tool, tool } from "../tools/tool.ts";
import { type AgentStream, startStream } from "./agent-stream.ts";
import { type AgentConfig, agentConfig } from "./config/agent-config.ts";
import { checkRunOptions, checkSubagentOptions } from "./config/option-rules.ts";
import { loop, type Open } from "./lifecycle/loop.ts";
import { createRun } from "./lifecycle/open-run.ts";
import type {
  AgentOptions,
  OptionArguments,
  ResumeOptions,
  RunInput,
  RunOptions,
  SubagentOptions,
} from "./ports/agent-options.ts";
import type { Emit } from "./ports/events.ts";
import type { RunResult } from "./ports/run-result.ts";
import { createResumedRun } from "./resume/resume.ts";
import { TrackedMessages } from "./run/recorder.ts";
import { type Run, subagentKey } from "./run/run.ts";
import { steer } from "./steer.ts";
import { runSubagent, subagentToolName } from "./subagent.ts";

/** The size of the list behind `agent.messages`. */
export interface ContextState {
  readonly messageCount: number;
  readonly tokenCount: number;
  /** True if the token count is an estimate. */
  readonly estimated: boolean;
}

/**
 * An agent. Immutable except for the list behind `messages`. Its runs may overlap. `Output` is the type of its answer, and `Values`
 * that of the context of its runs.
 */
class ConfiguredAgent<Output = string, Values extends object = AnyValues> {
  readonly name: string;
  readonly #config: AgentConfig;
  readonly #tracked: TrackedMessages;

  constructor(options: AgentOptions<Output, Values>) {
    this.#config = agentConfig(options as AgentOptions<unknown>);
    this.name = this.#config.name;
    this.#tracked = new TrackedMessages(options.keepMessages ?? 1000);
  }

  /** Runs on new input. Resolves when the agent has answered, waits for approval or was stopped by a limit; rejects on failure and abort. */
  async run(
    input: RunInput,
    ...[options = {}]: OptionArguments<RunOptions<Values>, Values>
  ): Promise<RunResult<Output>> {
    return start(this.#create(input, options)) as Promise<RunResult<Output>>;
  }

  /** Runs on new input and streams the events. Starts immediately. */
  stream(input: RunInput, ...[options = {}]: OptionArguments<RunOptions<Values>, Values>): AgentStream<Output> {
    return startStream((listener) => ({ run: this.#create(input, options, listener) }), start);
  }

  /** Runs on the conversation of a state and returns the new state. Throws if the state waits for approval. */
  async execute(
    state: AgentState,
    ...[options = {}]: OptionArguments<RunOptions<Values>, Values>
  ): Promise<AgentState> {
    if (!(state instanceof AgentState)) {
      throw invalid(
        `execute() needs an AgentState; found ${shownValue(state)}. Create one with AgentState.empty().withUserMessage(…).`,
      );
    }
    if (state.outcome?.status === "waiting") {
      throw invalid(
        "The run of this state waits for approval. Resume it with agent.resume(state, { approve, reject }), or start a new run with state.withUserMessage(…).",
      );
    }
    checkRunOptions(options);
    const base = state.outcome === undefined ? state : state.forContinuation();
    const result = await start(createRun(this.#config, { ...splitInput(base), options, tracked: this.#tracked }));
    return result.state;
  }

  /**
   * Resumes a run that waits for approval, was interrupted, failed or was stopped by a limit, by its id (with its store or session)
   * or by its last state. Finished tool calls do not run again. A call without a decision keeps waiting.
   */
  async resume(
    source: AgentState | string,
    ...[options = {}]: OptionArguments<ResumeOptions<Values>, Values>
  ): Promise<RunResult<Output>> {
    const { run, open } = createResumedRun(this.#config, source, { options, tracked: this.#tracked });
    return loop(run, open) as Promise<RunResult<Output>>;
  }

  /** Resumes a run and streams the events. Starts immediately. */
  resumeStream(
    source: AgentState | string,
    ...[options = {}]: OptionArguments<ResumeOptions<Values>, Values>
  ): AgentStream<Output> {
    const tracked = this.#tracked;
    return startStream((listener) => createResumedRun(this.#config, source, { options, listener, tracked }), loop);
  }

  /** A new agent with some options replaced; `undefined` restores a default. Its list of messages is its own. */
  with(options: Partial<AgentOptions<Output, Values>>): Agent<Output, Values> {
    if (!isObject(options)) throw invalid(`with() needs an object of agent options; found ${shownValue(options)}.`);
    return new ConfiguredAgent({ ...(this.#config.options as AgentOptions<Output, Values>), ...options });
  }

  /** Makes the agent a tool for other agents. The tool is called with `{ prompt }`, or with an input of yours, and returns only the answer. */
  asTool<Schema extends AnySchema | undefined = undefined>(options: SubagentOptions<Schema> = {}): Tool<Values> {
    checkSubagentOptions(options);
    const { name = subagentToolName(this.name), description = this.#config.options.description } = options;
    const { timeoutMs, needsApproval, remember } = options;
    const created = tool({
      name,
      description: description ?? `Asks the agent "${this.name}", which works on its own and returns its answer.`,
      input: options.input ?? promptSchema,
      timeoutMs,
      needsApproval: needsApproval as SubagentOptions["needsApproval"],
      remember,
      execute: (input, about) =>
        runSubagent(this.#config, input, {
          about,
          options: options as SubagentOptions,
          name: options.name ?? this.name,
          tracked: this.#tracked,
        }),
    });
    return Object.freeze({ ...created, isSubagent: true, [subagentKey]: this.#config });
  }

  /** The messages of this agent's runs and their subagents, both conversation and tool trace. `keepMessages` limits their number. */
  get messages(): MessageQuery {
    return new MessageQuery(() => this.#tracked.all(), { tokenCounter: this.#config.tokenCounter });
  }

  /** The same messages as a plain array. */
  getMessages(): Message[] {
    return [...this.#tracked.all()];
  }

  getContextState(): ContextState {
    const messages = this.#tracked.all();
    const { tokenCounter } = this.#config;
    return {
      messageCount: messages.length,
      tokenCount: tokenCounter.countMessages(messages),
      estimated: tokenCounter.estimated,
    };
  }

  /** Empties the list behind `messages`. Does not affect sessions and states. */
  clearContext(): void {
    this.#tracked.clear();
  }

  #create(input: RunInput, options: RunOptions, listener?: Emit): Run {
    checkRunOptions(options);
    const messages = parseInput(input);
    return createRun(this.#config, { input: messages, options, listener, tracked: this.#tracked });
  }
}

/** Runs to the end; with `onBusy: "steer"`, first tries to say the messages to a run that works on the session. */
function start(run: Run, open?: Open): Promise<RunResult<unknown>> {
  return run.request.options.onBusy === "steer" ? steer(run, open) : loop(run, open);
}

/** Makes agents. The type of the output follows from the schema; JSON Schema tells none, so it is unknown unless it is declared. */
interface AgentConstructor {
  // biome-ignore lint/suspicious/noExplicitAny: for instanceof
  readonly prototype: Agent<any, any>;
  new <Output, Values extends object = AnyValues>(
    options: AgentOptions<Output, Values> & { readonly output: TypedSchema<Output> },
  ): Agent<Output, Values>;
  new <Output = unknown, Values extends object = AnyValues>(
    options: AgentOptions<Output, Values> & { readonly output: AnySchema<Output> },
  ): Agent<Output, Values>;
  new <Output = string, Values extends object = AnyValues>(
    options: AgentOptions<Output, Values>,
  ): Agent<Output, Values>;
}

/** An agent. `Output` is the type of its answer, and `Values` that of the context of its runs. */
export interface Agent<Output = string, Values extends object = AnyValues> extends ConfiguredAgent<Output, Values> {}
export const Agent: AgentConstructor = ConfiguredAgent;
// The name by which an agent is printed.
Object.defineProperty(ConfiguredAgent, "name", { value: "Agent" });

// The user messages at the end of a state are the input of its run, and new to its session.
function splitInput(state: AgentState): { input: readonly Message[]; state: AgentState } {
  let start = state.messages.length;
  while (start > 0 && state.messages.at(start - 1)?.role === "user") start--;
  const input = state.messages.slice(start).toArray();
  return { input, state: input.length === 0 ? state : state.withMessages(state.messages.slice(0, start)) };
}

const promptSchema = {
  type: "object",
  properties: { prompt: { type: "string", description: "The task of the agent, with everything it needs to know." } },
  required: ["prompt"],
  additionalProperties: false,
};

/** The messages of an input. Throws `invalid-argument` or `invalid-message`. */
export function parseInput(input: RunInput): readonly Message[] {
  if (typeof input === "string" && input.trim() === "")
    throw invalid("The input is empty. Pass text, a message or a list of messages.");
  if (typeof input === "string") return [{ role: "user", content: input }];
  if (typeof input !== "object" || input === null)
    throw invalid(`The input must be text, a message or a list of messages; found ${shownValue(input)}.`);
  const messages = parseMessages(Symbol.iterator in input ? input : [input], { name: "input" });
  checkNewMessages(messages, "input");
  return messages;
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-argument", message);
}
