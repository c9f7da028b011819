// Two chat pages in Chromium: one with `useChat` of the AI SDK, and one with plain browser code over our own events.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { installInterop } from "../support/interop.ts";
import { type ChatApp, type PageName, startChatApp } from "./chat-app.ts";
import { partner } from "./partners.ts";

interface Locator {
  click(): Promise<void>;
  fill(text: string): Promise<void>;
  allTextContents(): Promise<string[]>;
  textContent(): Promise<string | null>;
  first(): Locator;
  count(): Promise<number>;
}
interface Page {
  goto(url: string): Promise<unknown>;
  reload(): Promise<unknown>;
  locator(selector: string): Locator;
  screenshot(options: { path: string }): Promise<unknown>;
  on(event: "pageerror", listener: (error: Error) => void): void;
  close(): Promise<void>;
}
interface Browser {
  newPage(options?: object): Promise<Page>;
  close(): Promise<void>;
}
interface Playwright {
  chromium: { launch(options: object): Promise<Browser> };
}

// Set SCREENSHOTS to a folder to look at the pages.
const { SCREENSHOTS: screenshots, CI } = process.env;
const folder = mkdtempSync(join(tmpdir(), "offstage-chat-"));
const executablePath = chromiumPath();
let browser: Browser;
let app: ChatApp;
const failures: Error[] = [];

function chromiumPath(): string | undefined {
  try {
    return execFileSync("which", ["chromium"], { encoding: "utf8" }).trim();
  } catch {
    if (CI) throw new Error("CI needs chromium: .ci/run installs it.");
    process.stderr.write("\n!!! NO CHROMIUM: the chat pages are not tested.\n\n");
    return undefined;
  }
}

beforeAll(async () => {
  if (executablePath === undefined) return;
  await installInterop("serve");
  if (screenshots !== undefined) mkdirSync(screenshots, { recursive: true });
  const { chromium } = await partner<Playwright>("playwright-core");
  browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  });
  app = await startChatApp(join(folder, "chat.db"));
});
afterAll(async () => {
  await browser?.close();
  await app?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

class Tab {
  readonly page: Page;
  constructor(page: Page) {
    this.page = page;
  }
  static async open(name: PageName, session: string): Promise<Tab> {
    const page = await browser.newPage({ viewport: { width: 640, height: 480 } });
    page.on("pageerror", (error) => failures.push(error));
    await page.goto(app.addressOf(name, session));
    const tab = new Tab(page);
    await tab.hasStatus("ready", "streaming");
    return tab;
  }
  async say(text: string): Promise<void> {
    await this.page.locator("#text").fill(text);
    await this.page.locator("#ask button").first().click();
  }
  hasStatus(...status: string[]): Promise<void> {
    return expect
      .poll(() => this.page.locator("#status").textContent(), { timeout: 5000 })
      .toSatisfy((text) => status.includes(text));
  }
  texts(role = "assistant"): Promise<string[]> {
    return this.page.locator(`[data-role="${role}"] p`).allTextContents();
  }
  async hasText(text: string): Promise<void> {
    await expect.poll(() => this.texts(), { timeout: 5000 }).toContain(text);
  }
  async hasTool(state: string): Promise<void> {
    await expect.poll(() => this.page.locator(`.tool[data-state="${state}"]`).count(), { timeout: 5000 }).toBe(1);
  }
  async picture(name: string): Promise<void> {
    if (screenshots !== undefined) await this.page.screenshot({ path: join(screenshots, `${name}.png`) });
  }
}

describe.skipIf(executablePath === undefined).for<PageName>(["ai-sdk", "events"])("the page over %s", (name) => {
  test("sends a message, and shows the answer as it streams", async () => {
    const tab = await Tab.open(name, `${name}-send`);
    await tab.say("hello");
    await tab.hasText("You said: hello");
    await tab.hasStatus("ready");
    await tab.say("again");
    await tab.hasText("You said: again");
    expect(await tab.texts("user")).toEqual(["hello", "again"]);
    await tab.picture(`${name}-send`);
    expect(failures).toEqual([]);
  });

  test("shows that a tool works, and that it has ended; after a reload only what was said", async () => {
    const tab = await Tab.open(name, `${name}-tool`);
    await tab.say("look outside");
    await tab.hasText("One moment. ");
    await tab.hasTool("input-available");
    await tab.picture(`${name}-tool`);
    app.gate.release();
    await tab.hasText("Answer to look outside: sunny");
    await tab.hasTool("output-available");
    await tab.hasStatus("ready");
    await tab.page.reload();
    await tab.hasText("Answer to look outside: sunny");
    expect(await tab.texts()).not.toContain("One moment. ");
  });

  test("asks for approval, also after a reload, and goes on", async () => {
    const tab = await Tab.open(name, `${name}-approve`);
    app.paid.length = 0;
    await tab.say("pay now");
    await tab.hasTool("approval-requested");
    await tab.page.reload();
    await tab.hasTool("approval-requested");
    await tab.picture(`${name}-approval`);
    await tab.page.locator(".approve").click();
    await tab.hasText("Answer to pay now: 1");
    await tab.hasStatus("ready");
    expect(app.paid).toEqual([{ euros: 5 }]);
    await tab.say("pay again");
    await tab.hasTool("approval-requested");
    await tab.page.locator(".reject").click();
    await tab.hasTool("output-denied");
    await tab.hasStatus("ready");
    expect(app.paid).toHaveLength(1);
  });

  test("asks a question, and uses the answer", async () => {
    const tab = await Tab.open(name, `${name}-question`);
    await tab.say("book a seat");
    await tab.hasTool("approval-requested");
    await tab.picture(`${name}-question`);
    await tab.page.locator(".question input").fill("12A");
    await tab.page.locator(".question button").click();
    await tab.hasText('Answer to book a seat: Seat {"seat":"12A"}');
    await tab.hasStatus("ready");
  });

  test("stops a run, and talks on", async () => {
    const tab = await Tab.open(name, `${name}-stop`);
    await tab.say("look outside");
    await tab.hasTool("input-available");
    await tab.page.locator("#stop").click();
    await tab.hasStatus("ready");
    await tab.hasTool("output-error");
    await tab.picture(`${name}-stopped`);
    await tab.say("hello");
    await tab.hasText("You said: hello");
  });

  test("steers a run: what is said meanwhile is seen by its answer, in a second tab too", async () => {
    const tab = await Tab.open(name, `${name}-steer`);
    await tab.say("look outside");
    await tab.hasTool("input-available");
    const second = await Tab.open(name, `${name}-steer`);
    await second.hasTool("input-available");
    await tab.say("in Texas");
    await new Promise((resolve) => setTimeout(resolve, 200));
    app.gate.release();
    for (const each of [tab, second]) {
      await each.hasText("Answer to look outside and in Texas: sunny");
      await each.hasText("in Texas");
      await each.hasStatus("ready");
    }
    await tab.picture(`${name}-steered`);
    await tab.page.reload();
    await tab.hasText("Answer to look outside and in Texas: sunny");
    expect(await tab.texts("user")).toEqual(["look outside", "in Texas"]);
    expect(failures).toEqual([]);
  });

  test("reloads in mid-run, and a second tab reads along; both get the answer", async () => {
    const tab = await Tab.open(name, `${name}-reload`);
    await tab.say("look outside");
    await tab.hasTool("input-available");
    await tab.page.reload();
    await tab.hasText("One moment. ");
    await tab.hasTool("input-available");
    const second = await Tab.open(name, `${name}-reload`);
    await second.hasTool("input-available");
    app.gate.release();
    for (const each of [tab, second]) {
      await each.hasText("Answer to look outside: sunny");
      await each.hasStatus("ready");
      expect(await each.texts()).toEqual(["One moment. ", "Answer to look outside: sunny"]);
      expect(await each.texts("user")).toEqual(["look outside"]);
    }
    await second.picture(`${name}-second`);
    expect(failures).toEqual([]);
  });
});
