#!/usr/bin/env node
// The program `offstage`: the command line in this process.
import { runCli } from "./run-cli.ts";

const stopping = new AbortController();

// A reader that has seen enough, such as `head`, closes the pipe. That is no failure.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    process.exit(0);
  });

// A command that goes on until Ctrl+C ends by itself. Any other is ended.
process.on("SIGINT", () => {
  stopping.abort(new DOMException("Interrupted.", "AbortError"));
  setTimeout(() => process.exit(130), 250).unref();
});

const { stdin, stdout, stderr, env } = process;
process.exitCode = await runCli(process.argv.slice(2), {
  ...{ stdin, stdout, stderr, env },
  cwd: process.cwd(),
  signal: stopping.signal,
});
