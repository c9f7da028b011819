// Reduces the types of a build to the declarations that an entry point leads to, with one tab per level. What only our own modules
// share is not shipped: a reader of the package cannot import it.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { posix } from "node:path";
import { parseSync } from "rolldown/utils";

/** Writes what `entries`, paths of .d.ts files in `from`, lead to into `to`, under the same paths. Both end with a slash. */
export function writeTypes(entries, { from, to }) {
  const modules = new Map();

  function moduleAt(path) {
    if (!modules.has(path)) modules.set(path, readModule(path, readFileSync(from + path, "utf8")));
    return modules.get(path);
  }

  /** Keeps the declaration that `path` exports or declares as `name`, and what it mentions. */
  function keep(path, name) {
    const module = moduleAt(path);
    if (module.names.has(name)) return;
    module.names.add(name);
    for (const { source, imported } of module.links.get(name) ?? []) {
      if (imported === "*") keepAll(source);
      else if (source !== undefined) keep(source, imported);
      else if (imported !== undefined && imported !== name) keep(path, imported);
    }
    for (const statement of module.declared.get(name) ?? []) {
      if (module.kept.has(statement)) continue;
      module.kept.add(statement);
      for (const mentioned of identifiersOf(statement)) if (module.isKnown(mentioned)) keep(path, mentioned);
    }
  }

  function keepAll(path) {
    for (const name of moduleAt(path).exported) keep(path, name);
  }

  for (const entry of entries) keepAll(entry);
  for (const [path, module] of modules) {
    mkdirSync(to + posix.dirname(path), { recursive: true });
    writeFileSync(to + path, printed(module));
  }
}

function readModule(path, text) {
  const { program, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  const module = { text, comments, body: program.body, declared: new Map(), links: new Map(), exported: new Set() };
  const sourceOf = ({ source }) =>
    source?.value.startsWith(".")
      ? posix.join(posix.dirname(path), source.value).replace(/\.[jt]s$/, ".d.ts")
      : undefined;
  const add = (map, name, value) => map.set(name, [...(map.get(name) ?? []), value]);
  for (const statement of program.body) {
    if (statement.type === "ImportDeclaration") {
      for (const specifier of statement.specifiers) {
        const source = sourceOf(statement);
        const imported = specifier.type === "ImportSpecifier" ? nameOf(specifier.imported) : "*";
        add(module.links, specifier.local.name, source === undefined ? {} : { source, imported });
      }
    } else if (statement.type === "ExportNamedDeclaration" && statement.declaration === null) {
      for (const { local, exported } of statement.specifiers) {
        add(module.links, nameOf(exported), { source: sourceOf(statement), imported: nameOf(local) });
        module.exported.add(nameOf(exported));
      }
    } else {
      const declaration = statement.declaration ?? statement;
      const names = declaration.declarations?.map(({ id }) => id.name) ?? [declaration.id?.name];
      if (names.includes(undefined)) throw new Error(`${path}: cannot read ${statement.type}.`);
      for (const name of names) {
        add(module.declared, name, statement);
        if (statement.type === "ExportNamedDeclaration") module.exported.add(name);
      }
    }
  }
  const isKnown = (name) => module.declared.has(name) || module.links.has(name);
  return { ...module, isKnown, names: new Set(), kept: new Set() };
}

const nameOf = (node) => node.name ?? node.value;

function* identifiersOf(node) {
  if (node.type === "Identifier") yield node.name;
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (typeof child?.type === "string") yield* identifiersOf(child);
}

function printed({ text, body, names, kept }) {
  let at = 0;
  let result = "";
  for (const statement of body) {
    // With the comment in front of it.
    const whole = text.slice(at, statement.end);
    at = statement.end;
    if (statement.specifiers !== undefined && statement.declaration == null) {
      const used = statement.specifiers.filter(({ local, exported }) => names.has(nameOf(exported ?? local)));
      if (used.length === 0 && statement.specifiers.length > 0) continue;
      result += used.length === statement.specifiers.length ? whole : withSpecifiers(statement, { text, used });
    } else if (kept.has(statement)) result += whole;
  }
  result = result.trimStart();
  return `${(result === "" ? "export {};" : result).replace(/^(?: {4})+/gm, (blanks) => "\t".repeat(blanks.length / 4))}\n`;
}

function withSpecifiers({ start, end, specifiers }, { text, used }) {
  const list = used.map((specifier) => text.slice(specifier.start, specifier.end)).join(", ");
  const before = text.slice(start, specifiers[0].start);
  return `\n${before}${list}${text.slice(specifiers.at(-1).end, end)}`;
}
