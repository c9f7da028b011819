// Lesson 15: the same sessions and journal on Postgres, for several machines. Set DATABASE_URL, and run this again.
// Only one run at a time uses a session, in any process. Another run waits for its turn, or is refused as busy.
import { Agent, isOffstageError, openStore } from "offstage";
import { scriptedModel } from "offstage/testing";

const { DATABASE_URL } = process.env;

if (!DATABASE_URL) {
  console.log(`Set DATABASE_URL to a Postgres database, for example:

  docker run --rm -d -p 5432:5432 -e POSTGRES_PASSWORD=secret postgres
  DATABASE_URL=postgres://postgres:secret@localhost:5432/postgres npx node examples/15-postgres.ts

In your own project, also install the client: npm install pg. Nothing else changes: openStore("sqlite:./shop.db") and
openStore("postgres://...") return the same kind of store.`);
  process.exit();
}

// Two stores on one database play the part of two machines.
await using here = openStore(DATABASE_URL);
await using there = openStore(DATABASE_URL);

let letGo = () => {};
const isHeld = new Promise<void>((resolve) => {
  letGo = resolve;
});
const slow = new Agent({
  name: "slow",
  model: scriptedModel([
    async () => {
      await isHeld;
      return "The first machine answered.";
    },
  ]),
});
const quick = new Agent({ name: "quick", model: scriptedModel(["The second machine answered."]) });

const sessionId = crypto.randomUUID();
const first = slow.run("Are you there?", { session: here.session(sessionId) });
while ((await there.session(sessionId).runs()).length === 0); // waits until the first run uses the session

const refused = quick.run("And you?", { session: there.session(sessionId), onBusy: "reject" });
console.log(
  await refused.catch((error: unknown) => (isOffstageError(error) ? `${error.code}: ${error.message}` : error)),
);

const queued = quick.run("And you?", { session: there.session(sessionId) });
letGo();
await Promise.all([first, queued]);

console.log("\nThe conversation, as both machines see it:");
for (const { role, content } of await there.session(sessionId).getItems()) console.log(`  ${role}: ${content}`);
await there.sessions.delete(sessionId);
