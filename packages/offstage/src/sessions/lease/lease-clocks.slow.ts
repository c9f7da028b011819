import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { elsewhere, headRow, held, heldElsewhere, pass, putHead } from "../../../test/support/held-sessions.ts";
import { ended, open, said, start, texts } from "../../testing/store-claims/claim.ts";
import { memoryDriver } from "../drivers/memory/memory.ts";
import { createStore } from "../store.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test.for([
  ["an hour ahead", 3_600_000],
  ["correct", 0],
  ["an hour behind", -3_600_000],
] as const)(
  "a waiting run takes over only once a holder on another machine, whose clock is %s, has not renewed its lease for 8 s",
  async ([, aheadMs]) => {
    const { driver, renew } = await heldElsewhere(aheadMs);
    vi.useFakeTimers({ toFake: ["performance"] });
    let isIn = false;
    const waiting = open(createStore(driver), "a", start("r2", "two")).then((log) => {
      isIn = true;
      return log;
    });
    await pass(0);
    for (let n = 0; n < 3; n++) {
      await pass(6_000);
      await renew();
      await pass(0);
    }
    await pass(6_000);
    expect(isIn).toBe(false);
    await pass(2_100);
    await (await waiting).abandon();
  },
);

test("a holder on this machine keeps its session when the clock is set forward", async () => {
  const { driver, log } = await held();
  const waiting = open(createStore(driver), "a", start("r2", "two"));
  await sleep(20);
  const clock = Date.now;
  vi.spyOn(Date, "now").mockImplementation(() => clock() + 120_000);
  await sleep(300);
  await log.end(ended("done"));
  await (await waiting).end(ended("done too"));
  expect(texts(await createStore(driver).session("a").getItems())).toEqual(["one", "done", "two", "done too"]);
});

test.for([
  ["ahead", 3_600_000],
  ["behind", -3_600_000],
] as const)(
  "a run waiting on another machine goes first for at most 5 s, even if its clock is an hour %s",
  async ([, aheadMs]) => {
    const { driver, log } = await held();
    await putHead(driver, { waiting_holder: elsewhere("here 1 1 x"), waiting_seen: Date.now() + aheadMs });
    await log.end(ended("done"));
    vi.useFakeTimers({ toFake: ["performance"] });
    let isIn = false;
    const waiting = open(createStore(driver), "a", start("r2", "two")).then((second) => {
      isIn = true;
      return second;
    });
    await pass(0);
    await pass(4_000);
    expect(isIn).toBe(false);
    await pass(1_100);
    await (await waiting).abandon();
  },
);

test("a change by a process whose clock is behind does not move the session back in the list", async () => {
  const driver = memoryDriver();
  const session = createStore(driver).session("a");
  await session.addItem(said("on time"));
  const before = await createStore(driver).sessions.get("a");
  const hourAgo = Date.now() - 3_600_000;
  vi.spyOn(Date, "now").mockReturnValue(hourAgo);
  const late = createStore(driver);
  await late.session("b").addItem(said("another"));
  await late.session("a").addItem(said("an hour ago, it says"));
  const after = await late.sessions.get("a");
  expect(after?.messageCount).toBe(2);
  expect(Date.parse(after?.lastActivityAt ?? "")).toBeGreaterThanOrEqual(Date.parse(before?.lastActivityAt ?? ""));
  expect(await late.verify()).toEqual([]);
});

test.for([
  ["", 0],
  [" and the clock is set back by an hour", 3_600_000],
] as const)("a run of another process gets its turn although runs here queue without end%s", async ([, backMs]) => {
  const driver = memoryDriver();
  const here = createStore(driver);
  let count = 0;
  let isOver = false;
  const oneAfterAnother = async (): Promise<void> => {
    while (!isOver) {
      const log = await open(here, "a", start(`r${++count}`, "mine"));
      await sleep(1);
      await log.end(ended("done"));
    }
  };
  const queue = [oneAfterAnother(), oneAfterAnother()];
  await sleep(20);
  const clock = Date.now;
  vi.spyOn(Date, "now").mockImplementation(() => clock() - backMs);
  const begun = Date.now();
  const log = await open(createStore(driver), "a", start("other", "theirs"));
  expect(Date.now() - begun).toBeLessThan(4_000);
  isOver = true;
  await log.end(ended("done"));
  await Promise.all(queue);
  expect(count).toBeGreaterThan(10);
  expect(await headRow(driver)).toMatchObject({ waiting_holder: null, lease_holder: null });
  expect(await here.verify()).toEqual([]);
});
