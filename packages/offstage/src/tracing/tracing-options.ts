// How spans are recorded and where they go: the options people write, and the settings every span carries. No spans here.

import { inertLine } from "../base/inert.ts";
import { checkOptions, type OptionRules, someFunction, yesOrNo } from "../base/options.ts";
import { redactor } from "../base/redact.ts";
import { messageOf } from "../errors.ts";
import type { SpanData } from "./span-data.ts";
import { isBridge, type SpanBridge, type SpanExporter, type TraceInfo } from "./span-exporter.ts";

/** Decides per trace, never per span: a share from 0 to 1 by trace id, or a function. */
export type Sampler = number | ((trace: TraceInfo) => boolean);

export interface TracingOptions {
  /** False records nothing. Off at any level (process, trace, agent, run) is off below it. Default true. */
  readonly enabled?: boolean;
  /** Where ended spans go, instead of the exporters of the level above. */
  readonly exporters?: readonly SpanExporter[];
  /** Which traces are recorded. Default 1: all. */
  readonly sample?: Sampler;
  /** Keep prompts, answers, arguments and results in spans. Default false. */
  readonly content?: boolean;
  /** Told of every failure of an exporter or a sampler. The default prints. */
  readonly onError?: (error: unknown, source: string) => void;
}

/** `TracingOptions` with every default filled in. Immutable; shared by all spans below. */
export interface TraceSettings {
  readonly recording: boolean;
  readonly content: boolean;
  readonly sample: Sampler;
  readonly exporters: readonly SpanExporter[];
  /** The exporter among them that is a bridge, if one is. */
  readonly bridge: SpanBridge | undefined;
  readonly onError: (error: unknown, source: string) => void;
  /** Gets every ended span too: the journal of the run around it, which never throws and traces nothing itself. */
  readonly keep: KeepSpan | undefined;
}

/** Takes a span that has ended. It is the span itself: `toJSON` gives plain data. */
export type KeepSpan = (span: SpanData & { toJSON(): SpanData }) => void;

/** The settings where nothing was configured: recording, to nowhere. */
export function initialSettings(): TraceSettings {
  return settingsOf({
    recording: true,
    content: false,
    sample: 1,
    exporters: [],
    bridge: undefined,
    onError: printErrors(),
    keep: undefined,
  });
}

/** The settings below `settings` for someone with `options`; the same object where nothing changes. */
export function refine(settings: TraceSettings, options: TracingOptions | false | undefined): TraceSettings {
  return options === undefined ? settings : refined(settings, options);
}

function refined(settings: TraceSettings, options: TracingOptions | false): TraceSettings {
  if (options === false || options.enabled === false || !settings.recording) return silenced(settings);
  if (changesNothing(options)) return settings;
  const { content, sample, exporters: given, onError } = options;
  checkOptions({ content, sample, exporters: given, onError }, tracingRules, owner);
  const exporters = options.exporters ?? settings.exporters;
  return settingsOf({
    recording: true,
    content: options.content ?? settings.content,
    sample: options.sample ?? settings.sample,
    exporters,
    bridge: exporters === settings.exporters ? settings.bridge : exporters.find(isBridge),
    onError: options.onError ?? settings.onError,
    // Whoever names exporters of their own says where everything goes.
    keep: options.exporters === undefined ? settings.keep : undefined,
  });
}

/** The settings below `settings` where ended spans are also given to `keep`. */
export function keeping(settings: TraceSettings, keep: KeepSpan | undefined): TraceSettings {
  if (keep === undefined || !settings.recording) return settings;
  const { keep: outer } = settings;
  if (outer === undefined) return settingsOf({ ...settings, keep });
  const both: KeepSpan = (span) => {
    outer(span);
    keep(span);
  };
  return settingsOf({ ...settings, keep: both });
}

const tracingRules: OptionRules = {
  enabled: yesOrNo,
  content: yesOrNo,
  sample: {
    isFit: (value) => typeof value === "function" || (typeof value === "number" && value >= 0 && value <= 1),
    words: "a share from 0 to 1, or a function of the trace",
  },
  exporters: {
    isFit: (value) => Array.isArray(value) && value.every((each) => typeof each?.export === "function"),
    words: 'a list of span exporters, each with an "export" method',
  },
  onError: someFunction,
};

const owner = "tracing";

/** Throws `invalid-argument` where tracing is told something that cannot be meant, or that it knows nothing of. */
export function checkTracing(options: TracingOptions | false | undefined): void {
  // `true` means what leaving it out means.
  if (options === undefined || typeof options === "boolean") return;
  checkOptions(options, tracingRules, owner);
}

function changesNothing({ exporters, sample, content, onError }: TracingOptions): boolean {
  return exporters === undefined && sample === undefined && content === undefined && onError === undefined;
}

/** The same settings, recording nothing. */
export function silenced(settings: TraceSettings): TraceSettings {
  return settings.recording ? settingsOf({ ...settings, recording: false, bridge: undefined }) : settings;
}

// All settings are built here, so that they have one shape and reading them is fast everywhere.
function settingsOf({ recording, content, sample, exporters, bridge, onError, keep }: TraceSettings): TraceSettings {
  return { recording, content, sample, exporters, bridge, onError, keep };
}

/** Whether a trace is recorded. The same id gives the same answer in every process; a sampler that throws samples. */
export function isSampled(trace: TraceInfo, settings: TraceSettings): boolean {
  const { sample } = settings;
  if (typeof sample === "number") return sample >= 1 || Number.parseInt(trace.traceId.slice(-8), 16) < sample * 2 ** 32;
  try {
    return sample(trace);
  } catch (error) {
    report(settings, error, "sample");
    return true;
  }
}

/** Hands one ended span to every exporter. Never throws, never waits. */
export function emit(span: SpanData, settings: TraceSettings): void {
  const { exporters } = settings;
  for (let index = 0; index < exporters.length; index++) {
    const exporter = exporters[index] as SpanExporter;
    try {
      const leaving = exporter.export([span]);
      if (leaving !== undefined) leaving.then(undefined, (error: unknown) => report(settings, error, exporter.name));
    } catch (error) {
      report(settings, error, exporter.name);
    }
  }
}

/** Tells the bridge, if there is one. Never throws. */
export function notify(settings: TraceSettings, notice: (bridge: SpanBridge) => void): void {
  if (settings.bridge === undefined) return;
  try {
    notice(settings.bridge);
  } catch (error) {
    report(settings, error, "bridge");
  }
}

/** Tells `onError`, whose own failure ends here. */
export function report(settings: Pick<TraceSettings, "onError">, error: unknown, source: string): void {
  try {
    settings.onError(error, source);
  } catch {
    // The last resort has failed; a run must not.
  }
}

/** An `onError` that prints the 1st, 2nd, 4th, 8th ... failure, so that a broken exporter cannot flood the terminal. */
export function printErrors(): (error: unknown, source: string) => void {
  let failures = 0;
  return (error, source) => {
    failures += 1;
    if ((failures & (failures - 1)) !== 0) return;
    const sentence = `"${source}" failed (${failures} so far): ${messageOf(error)}`;
    process.emitWarning(inertLine(redactor()(sentence)), "OffstageTracing");
  };
}
