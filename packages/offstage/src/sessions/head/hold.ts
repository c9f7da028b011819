// A store as the holder of leases: those that its runs hold, and the work that closing it waits for. And what can be told of the holder
// of a lease: which process on which machine it is, and whether it is alive. Acquiring a lease is in lease/.
import { withDeadline } from "../../base/cancellation.ts";
import type { SessionRow } from "../ports/tables.ts";

/** How long closing waits for a store that does not answer. Leases expire on their own. */
const closeMs = 5_000;

/** A lease that a run holds. */
export interface Hold {
  renew(): Promise<void>;
  release(): Promise<void>;
}

/** A store as a writer, shared by all its namespaces. */
export class StoreWriter {
  /** The store is closed: no more leases may be acquired. */
  isClosed = false;
  /** Work that `close` waits for: changes that were requested, and leases that are being acquired or released. */
  readonly expected: Set<Promise<unknown>> = new Set();
  readonly #held = new Set<Hold>();
  #timer: NodeJS.Timeout | undefined;
  #holder: string | undefined;

  /** Identifies the store as the holder of leases. Made on first use: not every runtime has random numbers while modules load. */
  get holder(): string {
    this.#holder ??= holderOf(crypto.randomUUID().slice(0, 8));
    return this.#holder;
  }

  /** Makes `close` wait for work. */
  expect(work: Promise<unknown>): void {
    const settle = (): void => void this.expected.delete(work);
    this.expected.add(work);
    work.then(settle, settle);
  }

  /** Renews a lease until it is removed. One timer renews all leases; it does not keep the process alive. */
  add(hold: Hold): void {
    this.#held.add(hold);
    // The lease was being acquired when the store was closed.
    if (this.isClosed) this.expect(hold.release());
    else if (this.#timer === undefined) {
      this.#timer = setInterval(() => this.#renewAll(), renewMs);
      // Some runtimes return a number.
      this.#timer.unref?.();
    }
  }

  // If a renewal fails, so will the next write of the run.
  #renewAll(): void {
    for (const hold of this.#held) hold.renew().catch(() => {});
  }

  remove(hold: Hold): void {
    this.#held.delete(hold);
  }

  /** Waits for expected work, and releases all leases, including those acquired meanwhile. Never rejects. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.#timer);
    for (const hold of this.#held) this.expect(hold.release());
    const settled = async (): Promise<void> => {
      // Releasing a lease admits the next run in the queue, which then fails because the store is closed.
      while (this.expected.size > 0) await Promise.allSettled(this.expected);
    };
    await withDeadline(settled, { timeoutMs: closeMs, what: "store", holdsProcess: true }).catch(() => {});
  }
}

/** How often a holder renews its lease. */
const renewMs = 2_000;
/** When a lease that is not renewed expires. Longer on this machine, where a live process may be busy with synchronous work. */
export const silentMs = { nearby: 60_000, elsewhere: 8_000 } as const;

// Machine, process id, start time, a token for each store within it, and the thread.
function holderOf(token: string): string {
  return `${machine()} ${process.pid} ${startOf(process.pid) ?? ""} ${token} ${thread() ?? ""}`;
}

/** Locates a holder relative to this process. "gone" means that it ran on this machine and is dead. */
export function whereIs(holder: string): "gone" | "nearby" | "elsewhere" {
  const [where, pid, start, , threadId = ""] = holder.split(" ");
  if (where !== machine()) return "elsewhere";
  return isAlive(Number(pid), start) && hasThread(Number(pid), threadId) ? "nearby" : "gone";
}

/** True if a lease has expired by the clocks of both machines. For callers that cannot wait and watch the lease. */
export function isAbandoned(holder: string, seen: number): boolean {
  const where = whereIs(holder);
  // A process on this machine can be seen to be alive, whatever its clock says.
  return where === "gone" || (where === "elsewhere" && Date.now() - seen > silentMs.elsewhere);
}

/** The run that works on a session; undefined if none does. */
export function liveRun({ lease_run, lease_holder, lease_seen }: SessionRow): string | undefined {
  if (lease_run === null || lease_holder === null || isAbandoned(lease_holder, lease_seen ?? 0)) return undefined;
  return lease_run;
}

function isAlive(pid: number, start: string | undefined): boolean {
  if (pid === process.pid) return start === (startOf(pid) ?? "");
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  const current = startOf(pid);
  return current === undefined || current === start;
}

// A worker thread may be terminated while its process lives on. Its number and its start identify it; undefined outside Linux.
function thread(): string | undefined {
  const { readlinkSync } = fileSystem();
  const id = attempt(() => readlinkSync("/proc/thread-self"))
    ?.split("/")
    .at(-1);
  const start = id && startOf(process.pid, id);
  return start && `${id}-${start}`;
}

function hasThread(pid: number, threadId: string): boolean {
  const [id = "", start] = threadId.split("-");
  // On some systems threads cannot be read.
  if (id === "" || attempt(() => fileSystem().readFileSync(`/proc/${pid}/stat`, "utf8")) === undefined) return true;
  return startOf(pid, id) === start;
}

// Containers may share a host name and have separate process ids, so the boot id and the pid namespace are part of the machine.
function machine(): string {
  const { readFileSync, readlinkSync } = fileSystem();
  const parts = [
    process.getBuiltinModule("node:os")?.hostname(),
    attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
    attempt(() => readlinkSync("/proc/self/ns/pid")),
  ];
  return process
    .getBuiltinModule("node:crypto")
    .createHash("sha256")
    .update(parts.join("/"))
    .digest("base64url")
    .slice(0, 12);
}

// A killed process that its parent has not reaped yet is a zombie: it still has an entry, but will never write again.
function startOf(pid: number, threadId?: string): string | undefined {
  const { readFileSync } = fileSystem();
  const folder = threadId === undefined ? `/proc/${pid}` : `/proc/${pid}/task/${threadId}`;
  const stat = attempt(() => readFileSync(`${folder}/stat`, "utf8"));
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields?.[0] === "Z" ? "zombie" : fields?.[19];
}

// On Workers with an older compatibility date there is none; then nothing can be read, as outside Linux.
function fileSystem(): typeof import("node:fs") {
  return process.getBuiltinModule("node:fs") ?? {};
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
