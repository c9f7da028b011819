// Sets up a step and turns its state into a prompt. The agent's functions choose model, tools and instructions; memory chooses which
// messages the model sees, and compaction shortens them; the state keeps all of them.
import { isObject, type JsonValue } from "../../base/json.ts";
import { shownValue } from "../../base/options.ts";
import { isThenable } from "../../base/thenable.ts";
import { isOffstageError, messageOf, OffstageError } from "../../errors.ts";
import type { AgentMemory } from "../../memory/agent-memory.ts";
import type { Compaction, ModelView } from "../../memory/compaction/compaction.ts";
import { compactor } from "../../memory/compaction/compactor.ts";
import { modelSummarizer } from "../../memory/compaction/summarize.ts";
import type { TextMemory } from "../../memory/text-memory.ts";
import { system } from "../../messages/makers.ts";
import { type Message, textOf } from "../../messages/message.ts";
import { type MessageStore, Messages } from "../../messages/messages.ts";
import { fallbackModel } from "../../models/fallback-model.ts";
import type { AnyModel } from "../../models/model.ts";
import { AgentState } from "../../state/agent-state.ts";
import type { AgentConfig } from "../config/agent-config.ts";
import { checkMemory } from "../config/option-rules.ts";
import { type StepSetup, stepSetup } from "../config/step-setup.ts";
import { outputPreamble } from "../config/structured-output.ts";
import type { MemoryFunction, MemoryPlace, ResumeOptions, StepFunction } from "../ports/agent-options.ts";
import type { Run } from "../run/run.ts";
import type { PromptParts, RunScope, StepPlace } from "../run/run-parts.ts";
import { historyToLoad } from "./history.ts";

/** The metadata key of a state's compaction note, from which the next run continues. */
const metadataKey = "offstage.compaction";

/** Opens the memory and compaction of an agent that has them. They continue where an earlier run, or this one before its resume, ended. */
export async function openPrompt(run: Run, state: AgentState, recordedNote?: unknown): Promise<void> {
  const { agent, input, record, scope } = run;
  const { compaction = compactor({ threshold: Number.POSITIVE_INFINITY }), memory } = agent.options;
  const { tokenCounter: counter } = agent;
  const { call } = run.input.setup;
  input.compaction = compaction.open({
    counter,
    signal: scope.cancellation.signal,
    fixedTokens: counter.countMessages(input.instructions) + counter.count(JSON.stringify(call.tools ?? [])),
    summarize: (request) => modelSummarizer(workingModels(run.input.setup))(request),
    note: recordedNote ?? knownNote(run, state),
    isPartial: record.log !== undefined && isPartial(historyToLoad(run)),
  });
  if (memory === undefined) return;
  const given = typeof memory === "function" ? await scope.cancellation.race(openMemory(run, memory)) : memory;
  checkMemory(given);
  const feed = agent.viewNotes.feed(given);
  const { memoryTokens = 8000 } = agent.options;
  const remember = async (): Promise<Message[]> => {
    const conversation = state.messages.toArray();
    await feed.add(conversation);
    const shown = await feed.shown(record.input.map(textOf).join("\n"), memoryTokens, conversation);
    if (Array.isArray(shown) && shown.every(isObject)) return [...(input.toolHistory?.inMemory(shown) ?? shown)];
    throw new OffstageError(
      "invalid-message",
      `memory.getMessages() must return a list of messages; found ${shownValue(shown)}.`,
    );
  };
  // A memory may call a model or a store of its own; an abort does not wait for it.
  input.compaction.show(state.withMessageStore(shownIn(run, state)), await scope.cancellation.race(remember()));
  input.feed = feed;
}

// The model of the present step, with those to fall back on.
function workingModels(setup: StepSetup): AnyModel {
  const models: AnyModel[] = [];
  for (let each: StepSetup | undefined = setup; each !== undefined; each = each.next) models.push(each.model);
  return models.length === 1 ? setup.model : fallbackModel(models);
}

async function openMemory(run: Run, open: MemoryFunction): Promise<AgentMemory | TextMemory> {
  return open(await placeOf(run));
}

/** The sections of the next model call, if nothing shortens them: the instructions, then the state's sections with the tool history. */
export function promptSections(run: Run, state: AgentState): readonly Messages[] {
  return [run.input.instructions, ...shownIn(run, state).sections(AgentState.INFERENCE_SECTIONS)];
}

/** The same as memory and compaction show them. */
export async function shortenedSections(
  run: Run,
  state: AgentState,
  shortening: Shortening,
): Promise<readonly Messages[]> {
  const { compaction } = shortening;
  const shown = state.withMessageStore(shownIn(run, state));
  const view = await (compaction.exceedsLimit(shown) ? compact(run, shown, shortening) : compaction.view(shown));
  return [run.input.instructions, ...view.sections];
}

// The sections with the tool history. The state itself stays as it is.
function shownIn({ input }: Run, { store }: AgentState): MessageStore {
  return input.toolHistory?.shownIn(store) ?? store;
}

interface Shortening {
  readonly compaction: Compaction;
  readonly at: StepPlace;
}

function compact(run: Run, state: AgentState, { compaction, at }: Shortening): Promise<ModelView> {
  return run.record.inStepPart(at, { name: "compaction", kind: "compaction" }, async (span) => {
    const view = await run.scope.cancellation.race(compaction.view(state));
    const report = view.compacted;
    if (report === undefined) return view;
    for (const { modelId, usage } of report.usage ?? []) run.limits.ledger.add(modelId, usage);
    run.draft.notes = { compaction: { report, note: compaction.note } as unknown as JsonValue };
    run.record.emit?.({ type: "compaction-end", step: at.step, report });
    const { strategy, tokensBefore, tokensAfter, error } = report;
    span.setMetadata({ strategy, tokensBefore, tokensAfter });
    if (error !== undefined) span.end("error");
    return view;
  });
}

/** Closes memory and compaction: adds the answer to the memory, and keeps a note of how the model saw the conversation. */
export async function closePrompt(run: Run, state: AgentState, answer: readonly Message[]): Promise<AgentState> {
  const { input, agent, request, scope, record } = run;
  const note = input.compaction?.note;
  const { session } = request;
  if (!request.hasOwnState && session !== undefined) agent.viewNotes.keep(session, note);
  try {
    // An abort does not wait for a memory that ignores it.
    if (input.feed !== undefined) await scope.cancellation.race(input.feed.add(answer));
  } catch (error) {
    if (!scope.cancellation.signal.aborted) record.emit?.({ type: "error", error, source: "memory" });
  }
  return request.hasOwnState ? state.withMetadata(metadataKey, (note ?? null) as unknown as JsonValue) : state;
}

// A session's note is used only if its last message is present: the session may have been cleared.
function knownNote(run: Run, state: AgentState): unknown {
  if (run.request.hasOwnState) return state.metadata[metadataKey];
  const { session } = run.request;
  const note = session && run.agent.viewNotes.of(session);
  return note !== undefined && indexOf(state, note.conversation.lastSaid) !== -1 ? note : undefined;
}

function indexOf({ messages }: AgentState, id: string): number {
  return messages.toArray().findLastIndex(({ metadata }) => metadata?.id === id);
}

function isPartial({ historyLimit, historyAfter }: ReturnType<typeof historyToLoad>): boolean {
  return historyLimit !== undefined || historyAfter !== undefined;
}

// The conversation that a run belongs to, directly or as a subagent's run. A run that is resumed through a store names no session.
async function placeOf(run: Run): Promise<MemoryPlace> {
  const { parent } = run.identity;
  if (parent !== undefined) return placeOf(parent);
  const { session, journal: own } = run.request;
  if (session !== undefined && own !== undefined) return { sessionId: session.sessionId, namespace: own.namespace };
  const { store }: ResumeOptions = run.request.options;
  const journal = await store?.runs.journal(run.identity.runId);
  return { sessionId: run.record.log?.recorded?.sessionId, namespace: journal?.namespace ?? "" };
}

/** Makes `run.input` ready for a step: its setup and its instructions. Does nothing if it is ready. */
export async function setUpStep(run: Run, step: number): Promise<void> {
  const { input, agent, identity, scope } = run;
  if (input.setUpFor === step || (input.setUpFor > 0 && !agent.changesBySteps)) return;
  const place = { step, runId: identity.runId, ...scope };
  const resolved = agent.setup ?? (await resolveSetup(agent, place));
  const setup = firstWorking(input, (step > 1 && resolved.later) || resolved);
  input.setup = setup;
  input.modelInput.useModel(setup);
  await setInstructions(run, setup, place);
  input.setUpFor = step;
}

// A model that failed is not tried again in the same run, unless it is the last one.
function firstWorking({ failedModels }: Pick<PromptParts, "failedModels">, setup: StepSetup): StepSetup {
  const { next, source } = setup;
  return next !== undefined && failedModels.has(source) ? firstWorking({ failedModels }, next) : setup;
}

/** The step of a run that functions decide about. */
export interface SetupPlace extends Pick<RunScope, "context" | "cancellation"> {
  readonly step: number;
  readonly runId: string;
}

/** The setup that an agent's functions choose. Throws `run-failed` if one fails, or the code of what it returned. */
export async function resolveSetup(agent: AgentConfig, place: SetupPlace): Promise<StepSetup> {
  const { options, driver, output } = agent;
  const model = await resolve(agent, place, { name: "model", given: options.model });
  const tools = await resolve(agent, place, { name: "tools", given: options.tools ?? [] });
  return stepSetup({ options, driver, output }, { model, tools });
}

// The same text keeps the same message, so that the prompt only grows at its end.
async function setInstructions({ agent, input }: Run, { tools }: StepSetup, place: SetupPlace): Promise<void> {
  const { name, driver, output, options } = agent;
  const own = await resolve(agent, place, { name: "instructions", given: options.instructions });
  if (own !== undefined && typeof own !== "string")
    throw new OffstageError(
      "invalid-argument",
      `The instructions of agent "${name}" must be text; found ${typeof own}.`,
    );
  // The agent's own text, then the additions of its driver and its output schema.
  const text = [own, driver?.preamble([...tools.values()]), output && outputPreamble(output)]
    .filter((part) => part !== undefined && part !== "")
    .join("\n\n");
  if (text === input.instructions.toArray().map(textOf).join("")) return;
  input.instructions = text === "" ? Messages.empty() : Messages.of(system(text));
}

interface Resolving<Value> {
  readonly name: string;
  readonly given: Value | StepFunction<Value>;
}

async function resolve<Value>(
  agent: AgentConfig,
  { context, cancellation, step, runId }: SetupPlace,
  { name, given }: Resolving<Value>,
): Promise<Value> {
  if (typeof given !== "function") return given;
  try {
    const ask = given as StepFunction<Value>;
    const asked = ask(context, { step, runId, signal: cancellation.signal });
    return isThenable(asked) ? await cancellation.race(asked as Promise<Value>) : (asked as Value);
  } catch (cause) {
    if (cancellation.signal.aborted || isOffstageError(cause)) throw cause;
    const sentence = `The ${name} function of agent "${agent.name}" failed: ${messageOf(cause)}`;
    throw new OffstageError("run-failed", sentence, { cause });
  }
}
