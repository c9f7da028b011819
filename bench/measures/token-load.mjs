// A process that opens one token counter and counts once: what loading it takes in time and memory.
// Usage: node --expose-gc measures/token-load.mjs <name>
import { nowUs } from "../lib/clock.mjs";
import { RESULT_MARK } from "../lib/run-worker.mjs";
import { TOKENIZERS } from "../lib/tokenizers.mjs";

globalThis.gc();
const before = process.memoryUsage();
const start = nowUs();
const count = await TOKENIZERS[process.argv[2]]();
const tokens = count("Hello world, this is the first call.");
const loadMs = (nowUs() - start) / 1e3;
globalThis.gc();
const after = process.memoryUsage();
const heapMB = (after.heapUsed - before.heapUsed) / 1e6;
const externalMB = (after.external + after.arrayBuffers - before.external - before.arrayBuffers) / 1e6;
const rssMB = (after.rss - before.rss) / 1e6;
process.stdout.write(`${RESULT_MARK}${JSON.stringify({ loadMs, tokens, heapMB, externalMB, rssMB })}\n`);
process.exit(0);
