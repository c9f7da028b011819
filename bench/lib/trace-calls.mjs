// Inserts a trace call at the entry of every function of a source folder while Node loads it. Files on disk stay unchanged.
import fs from "node:fs";
import { registerHooks } from "node:module";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseSync } from "rolldown/utils";

const functionTypes = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/**
 * Traces the files below `folder` that are loaded from now on, unless `isLeftOut(relativePath)`. Each call of a function is
 * passed to `onCall(file, function)`, both as numbers. Returns the names of the files by number.
 */
export function traceCalls(folder, { isLeftOut, onCall }) {
  const base = pathToFileURL(`${fs.realpathSync(folder)}${path.sep}`).href;
  const files = [];
  globalThis.__walk = onCall;
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context);
      if (!url.startsWith(base) || !url.endsWith(".ts")) return loaded;
      const file = url.slice(base.length);
      if (isLeftOut(file)) return loaded;
      const source = fs.readFileSync(fileURLToPath(url), "utf8");
      return { ...loaded, source: withTraceCalls(source, { file, number: files.push(file) - 1 }) };
    },
  });
  return files;
}

/** The source with `__walk(number, n)` at the entry of its nth function. */
function withTraceCalls(source, { file, number }) {
  const { program, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`"${file}" cannot be parsed: ${errors[0].message}`);
  const insertions = functionBodies(program).flatMap((body, index) => entryOf(body, `__walk(${number}, ${index})`));
  let text = source;
  for (const { at, insert } of insertions.sort((a, b) => b.at - a.at))
    text = text.slice(0, at) + insert + text.slice(at);
  return text;
}

function functionBodies(node) {
  if (typeof node !== "object" || node === null) return [];
  const inner = Object.values(node).flatMap(functionBodies);
  return functionTypes.has(node.type) && node.body ? [node.body, ...inner] : inner;
}

function entryOf(body, call) {
  if (body.type === "BlockStatement") return [{ at: body.start + 1, insert: ` ${call};` }];
  return [
    { at: body.start, insert: `(${call}, ` },
    { at: body.end, insert: ")" },
  ];
}
