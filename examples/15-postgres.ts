// Lesson 15: the same sessions and journal on Postgres, for more than one machine: set DATABASE_URL and run this again.
// One run at a time holds a session, in whichever process it is; another waits for its turn, or is told that it is busy.
import { Agent, isOffstageError, openStore } from "offstage";
import { scriptedModel } from "offstage/testing";

const { DATABASE_URL } = process.env;

if (!DATABASE_URL) {
  console.log(`Set DATABASE_URL to a Postgres database, for instance:

  docker run --rm -d -p 5432:5432 -e POSTGRES_PASSWORD=secret postgres
  DATABASE_URL=postgres://postgres:secret@localhost:5432/postgres npx node examples/15-postgres.ts

In a project of your own, install the client as well: npm install pg. Nothing else changes: openStore("sqlite:./shop.db")
and openStore("postgres://...") give the same store.`);
  process.exit();
}

// Two stores on one database stand for two machines.
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
while ((await there.session(sessionId).runs()).length === 0); // until the first run holds the session

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
