// Agent: a model, instructions and tools, ready to run. A thin face over the one loop.

import { shownValue } from "../base/options.ts";
import { OffstageError } from "../errors.ts";
import { parseMessages } from "../messages/codec.ts";
import { user } from "../messages/makers.ts";
import type { Message } from "../messages/message.ts";
import { MessageQuery } from "../query/message-query.ts";
import { AgentState } from "../state/agent-state.ts";
import { type Tool, tool } from "../tools/tool.ts";
import { AgentStream } from "./agent-stream.ts";
import { type AgentConfig, agentConfig } from "./config/agent-config.ts";
import { checkRunOptions, checkSubagentOptions } from "./config/option-rules.ts";
import { EventQueue } from "./event-queue.ts";
import { createRun } from "./lifecycle/create-run.ts";
import { loop, type Open } from "./lifecycle/loop.ts";
import type { AgentOptions, ResumeOptions, RunInput, RunOptions, SubagentOptions } from "./ports/agent-options.ts";
import type { Emit } from "./ports/events.ts";
import type { RunResult } from "./ports/run-result.ts";
import { resumedRun } from "./resume/resume.ts";
import type { Run } from "./run/run.ts";
import { TrackedMessages } from "./run/tracked-messages.ts";
import { runSubagent, subagentToolName } from "./subagent.ts";

/** How much an agent's own list of messages holds. */
export interface ContextState {
  readonly messageCount: number;
  readonly tokenCount: number;
  /** True where tokens were estimated, not counted. */
  readonly estimated: boolean;
}

/** An agent. Immutable but for the list behind `messages`; runs on it may overlap. */
export class Agent<Output = string> {
  readonly name: string;
  readonly #config: AgentConfig;
  readonly #tracked: TrackedMessages;

  constructor(options: AgentOptions<Output>) {
    this.#config = agentConfig(options as AgentOptions<unknown>);
    this.name = this.#config.name;
    this.#tracked = new TrackedMessages(options.keepMessages ?? 1000);
  }

  /** Runs on new input. Resolves when the agent answered or was stopped; rejects on failure and on abort. */
  async run(input: RunInput, options: RunOptions = {}): Promise<RunResult<Output>> {
    return loop(this.#create(input, options)) as Promise<RunResult<Output>>;
  }

  /** The same run, as events. Starts at once. */
  stream(input: RunInput, options: RunOptions = {}): AgentStream<Output> {
    return this.#stream((listener) => ({ run: this.#create(input, options, listener) }));
  }

  /** State in, state out: runs on a state's conversation. A state whose run has ended begins a new one; one that waits is refused. */
  async execute(state: AgentState, options: RunOptions = {}): Promise<AgentState> {
    if (!(state instanceof AgentState)) {
      throw invalid("execute() takes an AgentState. Make one with AgentState.empty().withUserMessage(…).");
    }
    if (state.outcome?.status === "waiting") {
      throw invalid(
        "The run of this state waits for approval. Decide with agent.resume(state, { approve, reject }), or begin a new run with state.withUserMessage(…).",
      );
    }
    checkRunOptions(options);
    const base = state.outcome === undefined ? state : state.forContinuation();
    const result = await loop(createRun(this.#config, { ...splitInput(base), options, tracked: this.#tracked }));
    return result.state;
  }

  /**
   * Continues a run that waits for approval or was cut off, by its id (with the store or session it is recorded in) or by
   * the state it left. Finished tools are not run again; a call without a decision goes on waiting.
   */
  async resume(source: AgentState | string, options: ResumeOptions = {}): Promise<RunResult<Output>> {
    const { run, open } = resumedRun(this.#config, source, { options, tracked: this.#tracked });
    return loop(run, open) as Promise<RunResult<Output>>;
  }

  /** The same, as events. Starts at once. */
  resumeStream(source: AgentState | string, options: ResumeOptions = {}): AgentStream<Output> {
    return this.#stream((listener) => resumedRun(this.#config, source, { options, listener, tracked: this.#tracked }));
  }

  /** The agent as a tool of another: called with `{ prompt }`, it gives its answer and nothing else. */
  asTool(options: SubagentOptions = {}): Tool {
    checkSubagentOptions(options);
    const { name = subagentToolName(this.name), description = this.#config.options.description } = options;
    const made = tool({
      ...policiesOf(options),
      name,
      description: description ?? `Asks the agent "${this.name}", which works on its own and gives its answer.`,
      input: promptSchema,
      execute: ({ prompt }, about) =>
        runSubagent(this.#config, String(prompt), {
          about,
          options,
          name: options.name ?? this.name,
          tracked: this.#tracked,
        }),
    });
    return Object.freeze({ ...made, isSubagent: true });
  }

  /** Everything this agent exchanged, conversation and tool trace together: see `keepMessages`. */
  get messages(): MessageQuery {
    return new MessageQuery(() => this.#tracked.all(), { tokenCounter: this.#config.tokenCounter });
  }

  /** The same as a plain list. */
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

  /** Empties the list behind `messages`. Sessions and states are not touched. */
  clearContext(): void {
    this.#tracked.clear();
  }

  #create(input: RunInput, options: RunOptions, listener?: Emit): Run {
    checkRunOptions(options);
    const messages = checkedInput(input);
    return createRun(this.#config, { input: messages, options, listener, tracked: this.#tracked });
  }

  #stream(start: (listener: Emit) => { run: Run; open?: Open }): AgentStream<Output> {
    const queue = new EventQueue();
    let run: Run | undefined;
    // Async, so that a stream fails as a run does: by its result, and at the end of the iteration.
    const begin = async (): Promise<RunResult<Output>> => {
      const started = start((event) => queue.push(event));
      run = started.run;
      return loop(run, started.open) as Promise<RunResult<Output>>;
    };
    const result = begin();
    result.then(
      () => queue.end(),
      (error) => queue.end({ error }),
    );
    const runId = run?.identity.runId ?? "";
    return new AgentStream({ runId, queue, result, abort: (reason) => run?.scope.cancellation.abort(reason) });
  }
}

// The user messages at the end of a state are what its run is about: new to the session, if there is one.
function splitInput(state: AgentState): { input: readonly Message[]; state: AgentState } {
  let start = state.messages.length;
  while (start > 0 && state.messages.at(start - 1)?.role === "user") start--;
  const input = state.messages.slice(start).toArray();
  return { input, state: input.length === 0 ? state : state.withMessages(state.messages.slice(0, start)) };
}

// What any tool can be told, and a subagent too.
function policiesOf({ timeoutMs, needsApproval, remember }: SubagentOptions) {
  return {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(needsApproval !== undefined && { needsApproval }),
    ...(remember !== undefined && { remember }),
  };
}

const promptSchema = {
  type: "object",
  properties: { prompt: { type: "string", description: "What the agent is to do, with everything it needs to know." } },
  required: ["prompt"],
  additionalProperties: false,
};

function checkedInput(input: RunInput): readonly Message[] {
  if (input === "") throw invalid("The input is empty. Pass text, a message or a list of messages.");
  if (typeof input === "string") return [user(input)];
  if (typeof input !== "object" || input === null)
    throw invalid(`A run takes text, a message or a list of messages; found ${shownValue(input)}.`);
  return parseMessages(Symbol.iterator in input ? input : [input], { name: "input" });
}

function invalid(message: string): OffstageError {
  return new OffstageError("invalid-argument", message);
}
