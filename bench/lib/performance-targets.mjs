// What Offstage must cost and what it aims at, and what pi cost beside it on the reference machine: data only.
// The limits are absolute figures of that machine (two shared cores, Node 24.21, November 2026).

/** Microseconds per step, by number of steps. */
export const LOOP_LIMITS = {
  off: {
    must: { 1: 20, 10: 10, 100: 10, 1000: 15 },
    goal: { 1: 10, 10: 5, 100: 5, 1000: 6 },
  },
  on: {
    must: { 1: 30, 10: 20, 100: 20, 1000: 25 },
    goal: { 1: 15, 10: 10, 100: 10, 1000: 12 },
  },
};

/** pi's microseconds per step on the reference machine, tracing off. */
export const REFERENCE_PI_LOOP = { 1: 10, 10: 10, 100: 14, 1000: 33 };

/** How much a step may cost at 10,000 steps against 100. */
export const GROWTH_LIMIT = 3;

/** Megabytes a run of 1,000 steps may keep, spans and steps included. */
export const HEAP_LIMIT_MB = 3;

/** How much a step may cost with 1,000 runs at once against one run. */
export const CONCURRENCY_LIMIT = 1.5;

/** Microseconds per text delta, to the first one, and per delta of a source that pushes. */
export const STREAM_LIMITS = { delta: 1.5, first: 50, pushedDelta: 0.75 };
export const REFERENCE_PI_STREAM = { delta: 0.8, first: 33 };

/** Milliseconds per turn, in memory and on disk; the megabytes that 200 turns leave; a late turn against turn 10. */
export const SESSION_LIMITS = {
  memory: { must: 0.1, goal: 0.04 },
  sqlite: { must: 0.6, goal: 0.3 },
  megabytes: { must: 1, goal: 0.5 },
  growth: 1.1,
};
export const REFERENCE_PI_TURN = 0.07;

/** Milliseconds to import over bare Node, by label. */
export const IMPORT_LIMITS = { offstage: 15, "offstage with SQLite": 30 };
export const REFERENCE_PI_IMPORT = 310;

/** Installed megabytes (less than) and packages (at most). */
export const SIZE_LIMITS = { megabytes: 3, packages: 1 };
