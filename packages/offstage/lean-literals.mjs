// Prints literals of objects and lists on one line, if they are short. The bundler prints one entry per line, even for lists of numbers.
import { parseSync } from "rolldown/utils";

const maxLength = 160;
const literals = new Set(["ObjectExpression", "ArrayExpression", "ObjectPattern", "ArrayPattern"]);
// These have lines of their own. So has a part of a template with a line break.
const rigid = new Set(["BlockStatement", "ClassBody"]);

/** Returns the text of a module, with short literals on one line. The code is otherwise the same, line by line. */
export function withShortLiterals(text) {
  const { program, comments, errors } = parseSync("module.js", text);
  if (errors.length > 0) throw new Error(errors[0].message);
  let result = "";
  let at = 0;
  for (const { start, end } of literalsIn(program)) {
    const line = text
      .slice(start, end)
      .replace(/(?<=\[)\n\t*|\n\t*(?=\])/g, "")
      .replace(/\n\t*/g, " ");
    if (start < at || line.length > maxLength) continue;
    if (comments.some((comment) => comment.start < end && comment.end > start)) continue;
    result += text.slice(at, start) + line;
    at = end;
  }
  return result + text.slice(at);
}

/** Yields the literals without functions that have bodies, the outer ones first. */
function* literalsIn(node) {
  if (literals.has(node.type) && !isRigid(node)) yield node;
  for (const child of childrenOf(node)) yield* literalsIn(child);
}

function isRigid(node) {
  return rigid.has(node.type) || node.value?.raw?.includes("\n") || childrenOf(node).some(isRigid);
}

function childrenOf(node) {
  return Object.values(node)
    .flat()
    .filter((child) => typeof child?.type === "string");
}
