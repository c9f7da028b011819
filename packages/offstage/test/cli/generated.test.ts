// What is made from the table of commands: docs/cli.md, and completion.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { completionScript, shells } from "../../src/cli/completion.ts";
import { loadCommands } from "../../src/cli/table.ts";
import { withCommands } from "./cli-page.ts";

const commands = await loadCommands();
const page = fileURLToPath(new URL("../../../../docs/cli.md", import.meta.url));

test("docs/cli.md is what the table of commands says: npx vitest run test/cli/generated.test.ts -u makes it again", async () => {
  const written = existsSync(page) ? readFileSync(page, "utf8") : "";
  await expect(withCommands(written, commands)).toMatchFileSnapshot(page);
});

test.for([...shells])("the completion of %s knows every command and every option", (shell) => {
  const script = completionScript(shell, commands);
  for (const { row, command } of commands) {
    expect(script).toMatch(new RegExp(`\\b${row.name}\\b`));
    for (const name of Object.keys(command.options))
      expect(script).toContain(shell === "fish" ? `-l ${name}` : `--${name}`);
  }
});

test("bash completes commands, options and their values", () => {
  const complete = (...words: string[]): string[] => {
    const script = `${completionScript("bash", commands)}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _offstage; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim().split("\n");
  };
  expect(complete("offstage", "se")).toEqual(["sessions"]);
  expect(complete("offstage", "sessions", "--sta")).toEqual(["--status"]);
  expect(complete("offstage", "sessions", "--status", "wai")).toEqual(["waiting"]);
  expect(complete("offstage", "completion", "z")).toEqual(["zsh"]);
});
