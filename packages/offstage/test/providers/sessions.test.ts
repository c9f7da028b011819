// Several turns of one session through the real provider packages: messages and digests of tools are shown, reasoning is not.
import { describe, expect, test } from "vitest";
import { InMemorySession } from "../../src/sessions/in-memory-session.ts";
import { ask, cases, failureOf, loopback } from "./loopback-agents.ts";

const thoughts = [{ text: "I need the weather.", signature: "SIG-1" }];
const conclusion = [{ text: "It is sunny there.", signature: "SIG-2" }];

describe.each(cases)("$name, $face", (provider) => {
  test("the next turn is sent a digest of the tools, without thinking and signatures", async () => {
    await using at = await loopback(provider, [
      { thoughts, calls: [{ ...ask("c1", "Rome"), signature: "THOUGHT" }] },
      { thoughts: conclusion, text: ["Sunny."] },
      { text: ["You are welcome."] },
    ]);
    const session = new InMemorySession();
    const { result } = await provider.play(at.agent, "Weather?", { session });
    expect(result.text).toBe("Sunny.");
    await provider.play(at.agent, "Thanks!", { session });
    const items = await session.getItems();
    expect(items.map(({ role, content }) => [role, content])).toEqual([
      ["user", "Weather?"],
      ["assistant", "Sunny."],
      ["user", "Thanks!"],
      ["assistant", "You are welcome."],
    ]);
    const sent = JSON.stringify(at.server.requests[2]?.body.messages);
    expect(JSON.stringify(items) + sent).not.toMatch(/SIG-|THOUGHT|providerParts|I need|sunny there/);
    expect(JSON.stringify(items)).not.toContain("Rome: sunny");
    expect(sent).toContain("Rome: sunny");
  });

  test("with toolHistory none, the next turn is sent the conversation only", async () => {
    const script = [{ calls: [ask("c1", "Rome")] }, { text: ["Sunny."] }, { text: ["You are welcome."] }];
    await using at = await loopback(provider, script, { toolHistory: "none" });
    const session = new InMemorySession();
    for (const text of ["Weather?", "Thanks!"]) await provider.play(at.agent, text, { session });
    expect(at.server.requests[2]?.body.messages).toHaveLength(3);
  });

  test("a call id from an earlier turn can be reused in a later one", async () => {
    const turn = [{ calls: [ask("c1", "Rome")] }, { text: ["Sunny."] }];
    await using at = await loopback(provider, [...turn, ...turn], { toolHistory: "full" });
    const session = new InMemorySession();
    await provider.play(at.agent, "Weather?", { session });
    const { result } = await provider.play(at.agent, "And now?", { session });
    expect(result.text).toBe("Sunny.");
  });

  test("the turn after a failed one is sent a valid history", async () => {
    await using at = await loopback(provider, [{ calls: [ask("c1", "Rome")] }, { status: 400 }, { text: ["Back."] }]);
    const session = new InMemorySession();
    await failureOf(provider.play(at.agent, "Weather?", { session }));
    const { result } = await provider.play(at.agent, "And now?", { session });
    expect(result.text).toBe("Back.");
  });
});
