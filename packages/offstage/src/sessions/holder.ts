// The holder of a lease: which process, on which machine, started when; and whether it still lives.
import type { Lease } from "./session-head.ts";

/** How often a holder shows a sign of life. */
export const renewMs = 2_000;
/** How long one may go without. A process on this machine that lives may be busy with long synchronous work. */
export const silentMs = { nearby: 60_000, elsewhere: 8_000 } as const;

/** This process as text: machine, process id, start time and a token that tells holders within it apart. */
export function holderOf(token: string): string {
  return `${machine()} ${process.pid} ${startOf(process.pid) ?? ""} ${token}`;
}

/** Where a holder is, seen from here; "gone" is one that was here and is dead. */
export function whereIs(holder: string): "gone" | "nearby" | "elsewhere" {
  const [where, pid, start] = holder.split(" ");
  if (where !== machine()) return "elsewhere";
  return isAlive(Number(pid), start) ? "nearby" : "gone";
}

/** True where nobody seems to write under this lease any more, by the clocks: for those who cannot wait and watch. */
export function isAbandoned({ holder, seen }: Pick<Lease, "holder" | "seen">, now: number): boolean {
  const where = whereIs(holder);
  return where === "gone" || now - seen > silentMs[where];
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

// Containers may share a host name and see different process ids: the boot and the id space are part of the machine.
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

// A killed child that its parent has not collected yet keeps its entry, as a zombie; it will write nothing more.
function startOf(pid: number): string | undefined {
  const { readFileSync } = fileSystem();
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
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
