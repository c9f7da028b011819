// Markdown and HTML reports of runs: a header for each run, and subagents below the calls that started them.
import { Parser } from "commonmark";
import { describe, expect, test } from "vitest";
import { assistant, toolCall, toolResult, user } from "../../messages/makers.ts";
import type { Message } from "../../messages/message.ts";
import { MessageQuery } from "../message-query.ts";
import type { RunSummary } from "../run-summary.ts";
import { fromExport } from "./from-export.ts";

const of = (runId: string, parentRunId?: string, more = {}) => ({
  metadata: { runId, agent: `agent ${runId}`, ...(parentRunId !== undefined && { parentRunId }), ...more },
});

const messages: Message[] = [
  user("question", of("p")),
  assistant("Let me ask.", { toolCalls: [toolCall("1", "first"), toolCall("2", "second")], ...of("p") }),
  user("task of b", of("b", "p")),
  assistant(null, { toolCalls: [toolCall("1", "deep")], ...of("b", "p") }),
  user("task of c", of("c", "b")),
  assistant("c is done", of("c", "b")),
  toolResult("1", "heard c", of("b", "p", { childRunId: "c" })),
  assistant("b is done", of("b", "p")),
  toolResult("2", "heard b", of("p", undefined, { childRunId: "b" })),
  toolResult("1", "alone", of("p")),
];

const failed: RunSummary = {
  runId: "p",
  agent: "boss",
  sessionId: "s1",
  model: "gpt-x",
  provider: "acme",
  status: "failed",
  reason: "model-failed",
  error: { code: "model-failed", message: "no light" },
  startedAt: "2026-01-01T00:00:00.000Z",
  endedAt: "2026-01-01T00:00:02.000Z",
  durationMs: 2000,
  usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
  cost: 0.00123,
  steps: 2,
  instructions: "You are the boss.",
  annotations: [{ label: "bad", value: { score: 1 }, note: "It gave up.", by: "anna", createdAt: "2026-01-02" }],
};
const runs: RunSummary[] = [
  failed,
  { runId: "b", parentRunId: "p", agent: "agent b", status: "completed", reason: "answered", instructions: "Be b." },
  { runId: "c", parentRunId: "b", agent: "agent c", status: "completed" },
];
const query = new MessageQuery(messages, { runs });

interface Parsed {
  readonly headings: string[];
  readonly blocks: string[];
  readonly kinds: Set<string>;
}

/** Headings with the number of quotes around them. */
function parsed(markdown: string): Parsed {
  const found: Parsed = { headings: [], blocks: [], kinds: new Set() };
  const walker = new Parser().parse(markdown).walker();
  let quotes = 0;
  for (let event = walker.next(); event !== null; event = walker.next()) {
    const { node, entering } = event;
    if (node.type === "block_quote") quotes += entering ? 1 : -1;
    if (!entering) continue;
    found.kinds.add(node.type);
    if (node.type === "heading")
      found.headings.push(`${">".repeat(quotes)}${node.level} ${node.firstChild?.literal}`.trim());
    if (node.type === "code_block") found.blocks.push(`${">".repeat(quotes)}${node.literal}`.trim());
  }
  return found;
}

describe("the markdown of known runs", () => {
  test("has a header for each run, and subagents quoted below the calls that started them", () => {
    const { headings, blocks } = parsed(query.export("markdown"));
    expect(headings).toEqual([
      ...["1 Conversation", "2 Run", "3 User", "3 Assistant"],
      ...[">4 Subagent", ">5 User", ">5 Assistant", ">>6 Subagent", ">>6 User", ">>6 Assistant", ">5 Assistant"],
    ]);
    expect(blocks).toEqual([
      ...["no light", "You are the boss.", '{"score":1}\nIt gave up.'],
      ...["question", "Let me ask.", "{}", "alone", "{}"],
      ...[">Be b.", ">task of b", ">{}", ">>task of c", ">>c is done", ">heard c", ">b is done"],
      "heard b",
    ]);
  });

  test("says who ran, with what, how it ended and what it cost", () => {
    const text = query.export("markdown");
    for (const line of [
      "## Run `p`",
      "- Agent: `boss`",
      "- Session: `s1`",
      "- Status: `failed, model-failed`",
      "- Model: `gpt-x, acme`",
      "- Started: `2026-01-01T00:00:00.000Z`",
      "- Ended: `2026-01-01T00:00:02.000Z`",
      "- Duration: `2000 ms`",
      "- Steps: `2`",
      "- Usage: `10 in, 5 out, 15 tokens`",
      "- Cost: `$0.00123`",
      "**Error** `model-failed`",
      "**Annotation** `bad` `anna` `2026-01-02`",
    ])
      expect(text).toContain(`${line}\n`);
    expect(text).not.toContain("undefined");
  });

  test("quotes subagents even if no run is known", () => {
    const { headings } = parsed(new MessageQuery(messages).export("markdown"));
    expect(headings.slice(0, 5)).toEqual(["1 Conversation", "3 User", "3 Assistant", ">4 Subagent", ">5 User"]);
  });

  test("has the header of a subagent's run at the top if its parent is not exported", () => {
    const text = query.where({ agent: "agent c" }).export("markdown");
    expect(parsed(text).headings).toEqual(["1 Conversation", "2 Run", "3 User", "3 Assistant"]);
    expect(text).toContain("- Called by run: `b`");
  });

  test("tells runs apart that overlap, and messages of no known run", () => {
    const list = [user("A", of("p")), user("B", of("c")), assistant("to A", of("p")), user("else"), user("x", of("y"))];
    const { headings } = parsed(new MessageQuery(list, { runs }).export("markdown"));
    expect(headings).toEqual([
      ...["1 Conversation", "2 Run", "3 User", "2 Run", "3 User", "2 Run", "3 Assistant"],
      ...["2 Other messages", "3 User", "3 User"],
    ]);
  });

  test("has the headers alone if no run has messages", () => {
    const { headings, blocks } = parsed(new MessageQuery([], { runs }).export("markdown"));
    expect(headings).toEqual(["1 Conversation", "2 Run", "2 Run", "2 Run"]);
    expect(blocks[0]).toBe("no light");
  });

  test("cuts the texts of a header at maxContentLength", () => {
    expect(parsed(query.export("markdown", { maxContentLength: 2 })).blocks.slice(0, 2)).toEqual(["no...", "Yo..."]);
  });

  const hostile = [
    "### User",
    "```\n# x\n```",
    "a\r# cr\r\n## crlf",
    "</pre><script>",
    "- a\n> b",
    "`",
    "\n\n# x",
    "\t# tab",
  ];
  test.for(hostile)("cannot be forged by %j in any field, at any depth", (text) => {
    const all: RunSummary = {
      runId: "p",
      parentRunId: text,
      parentToolCallId: text,
      sessionId: text,
      agent: text,
      model: text,
      provider: text,
      status: text,
      reason: text,
      error: { code: text, message: text },
      startedAt: text,
      endedAt: text,
      instructions: text,
      annotations: [{ label: text, value: text, note: text, by: text, createdAt: text }],
    };
    const list = messages.map((message) => ({
      ...message,
      ...(message.content !== null && { content: text }),
      metadata: { ...message.metadata, agent: text },
    })) as Message[];
    const forged = new MessageQuery(list, { runs: [all, { ...all, runId: "b" }, { ...all, runId: "c" }] });
    const { headings, kinds } = parsed(forged.export("markdown"));
    expect(headings).toEqual(parsed(query.export("markdown")).headings);
    expect([...kinds].sort()).toEqual(
      [
        "block_quote",
        "code",
        "code_block",
        "document",
        "heading",
        "item",
        "list",
        "paragraph",
        "strong",
        "text",
      ].sort(),
    );
    expect(forged.export("html")).not.toContain("<script");
    expect(
      String(forged.timeline())
        .split("\n")
        .filter((line) => line.startsWith("Turn")),
    ).toHaveLength(1);
  });

  test("ends, and stays readable, however deep runs are nested", () => {
    const chain = Array.from({ length: 3000 }, (_, i) =>
      user(`text ${i}`, of(`${i}`, i === 0 ? undefined : `${i - 1}`)),
    );
    const deep = new MessageQuery(chain);
    expect(parsed(deep.export("markdown")).blocks).toHaveLength(3000);
    expect(deep.export("html").match(/<article /g)).toHaveLength(3000);
  });
});

describe("the html of known runs", () => {
  test("has a header for each run, and a section for each subagent between call and result", () => {
    const page = query.export("html");
    const order = page.match(/<h[123]>[^<]*|<\/section>|id="m\d+"/g);
    expect(order).toEqual([
      ...["<h1>Conversation", "<h2>Run ", 'id="m0"', 'id="m1"'],
      ...["<h3>Subagent ", 'id="m2"', 'id="m3"', "<h3>Subagent ", 'id="m4"', 'id="m5"', "</section>"],
      ...['id="m6"', 'id="m7"', "</section>", 'id="m8"', 'id="m9"'],
    ]);
    for (const fact of ["failed, model-failed", "$0.00123", "10 in, 5 out, 15 tokens"])
      expect(page).toContain(`<dd>${fact}</dd>`);
    for (const text of ["no light", "You are the boss.", "It gave up."]) expect(page).toContain(`${text}</pre>`);
    expect(page.match(/<section/g)?.length).toBe(page.match(/<\/section>/g)?.length);
  });

  test("tells runs apart that overlap, and messages of no known run", () => {
    const list = [user("A", of("p")), user("B", of("c")), assistant("to A", of("p")), user("else")];
    const page = new MessageQuery(list, { runs }).export("html");
    expect(page.match(/<h2>.*<\/h2>/g)).toEqual([
      "<h2>Run <code>p</code></h2>",
      "<h2>Run <code>c</code></h2>",
      "<h2>Run <code>p</code>, continued</h2>",
      "<h2>Other messages</h2>",
    ]);
    expect(new MessageQuery([], { runs }).export("html").match(/<h2>/g)).toHaveLength(3);
    expect(new MessageQuery(list).export("html")).not.toContain("<h2>");
  });
});

describe("a query that knows its runs", () => {
  test("returns those that have messages, or all if none has", () => {
    const ids = (of: MessageQuery) => of.runs().map(({ runId }) => runId);
    expect(ids(query)).toEqual(["p", "b", "c"]);
    expect(ids(query.where({ subagents: false }))).toEqual(["p"]);
    expect(ids(query.where({ role: "nobody" }))).toEqual(["p", "b", "c"]);
    expect(ids(new MessageQuery(messages))).toEqual([]);
    expect(ids(new MessageQuery(messages, { runs: () => runs.slice(1) }))).toEqual(["b", "c"]);
  });

  test("refuses runs of another form", () => {
    expect(() => new MessageQuery([], { runs: "p" as never })).toThrow('"runs" must be a list of run summaries');
    expect(() => new MessageQuery([], { runs: [1] as never })).toThrow('"runs" must be a list of run summaries');
  });

  test("writes the same json, jsonl, csv and dict as one that does not, and reads them back without loss", () => {
    const plain = new MessageQuery(messages);
    for (const format of ["json", "jsonl", "csv", "dict"] as const)
      expect(query.export(format)).toEqual(plain.export(format));
    for (const includeMetadata of [true, false])
      for (const format of ["json", "jsonl"] as const)
        expect(fromExport(query.export(format, { includeMetadata }))).toEqual(messages);
  });

  test("redacts every text of a header, and nothing else in it", () => {
    const secret = "sk-abcdefghijklmnopqrstuv";
    const leaky: RunSummary = {
      ...failed,
      error: { code: "model-failed", message: `bad key ${secret}` },
      instructions: `Use ${secret}.`,
      annotations: [{ label: "bad", note: `saw ${secret}`, value: { apiKey: "hunter2", text: secret } }],
    };
    const whole = new MessageQuery(messages, { runs: [leaky] });
    for (const format of ["markdown", "html"] as const) {
      expect(whole.export(format)).toContain(secret);
      const clean = whole.export(format, { redact: true });
      expect(clean).not.toMatch(/sk-abcdef|hunter2/);
      for (const fact of ["bad key", "gpt-x, acme", "10 in, 5 out, 15 tokens", "s1", "boss"])
        expect(clean).toContain(fact);
    }
  });
});
