// The holder of a lease: which process on which machine, when it started, and whether it is still alive.

/** How often a holder renews its lease. */
export const renewMs = 2_000;
/** When a lease that is not renewed expires. Longer on this machine, where a live process may be busy with synchronous work. */
export const silentMs = { nearby: 60_000, elsewhere: 8_000 } as const;

/** Identifies this thread of this process: machine, process id, start time, a token for each store within it, and the thread. */
export function holderOf(token: string): string {
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
