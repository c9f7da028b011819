// A small JSON Schema check for input that comes with no validator of its own: types, properties, items, enums, bounds,
// combinations and local references. A keyword it does not know constrains nothing.
import { isObject } from "../base/json.ts";

type Schema = Record<string, unknown>;

/** Where a check is: the whole schema, the place in the value, and what was found wrong so far. */
interface Scope {
  readonly root: Schema;
  readonly place: string;
  readonly problems: string[];
  /** Which objects fit which form, as far as it was asked. */
  readonly fitting: Fitting;
}

interface Fitting {
  /** Made where it is first needed: few schemas have forms to choose from. */
  known?: Map<object, Map<unknown, boolean>>;
}

/** What is wrong with a value under a schema, each with its place; empty where it fits. */
export function checkJsonSchema(schema: Schema, value: unknown): string[] {
  const scope: Scope = { root: schema, place: "", problems: [], fitting: {} };
  check(schema, value, scope);
  return scope.problems;
}

const typeNames: readonly unknown[] = ["string", "number", "integer", "boolean", "object", "array", "null"];

/** The first type in a schema that no value has, such as a misspelt one. What is only referred to is not looked at. */
export function unknownType(schema: unknown): string | undefined {
  const seen = new Set<unknown>([schema]);
  for (const part of seen) {
    if (!isObject(part)) continue;
    const { type = [], properties, items, anyOf, oneOf, allOf } = part;
    const wrong = [type].flat().find((name) => !typeNames.includes(name));
    if (wrong !== undefined) return String(wrong);
    const inner = [items, anyOf, oneOf, allOf].flat();
    // A set that grows is walked to its end, and takes nothing twice.
    for (const each of isObject(properties) ? inner.concat(Object.values(properties)) : inner) seen.add(each);
  }
  return undefined;
}

function check(schema: unknown, value: unknown, scope: Scope): void {
  if (schema === false) report(scope, "is not allowed");
  if (!isObject(schema)) return;
  const target = typeof schema.$ref === "string" ? resolve(schema.$ref, scope.root) : schema;
  if (target !== schema) check(target, value, scope);
  else checkKeywords(schema, value, scope);
}

function checkKeywords(schema: Schema, value: unknown, scope: Scope): void {
  const { type, allOf, anyOf, oneOf } = schema;
  if (type !== undefined && !isOfType(type, value) && !checkTypes(type, value, scope)) return;
  // Most schemas have none of these: asking here saves the calls.
  if (schema.enum !== undefined || "const" in schema) checkChoice(schema, value, scope);
  if (allOf !== undefined || anyOf !== undefined || oneOf !== undefined) checkCombinations(schema, value, scope);
  if (typeof value === "number") checkNumber(schema, value, scope);
  else if (typeof value === "string") checkText(schema, value, scope);
  else if (Array.isArray(value)) checkList(schema, value, scope);
  else if (isObject(value)) checkProperties(schema, value, scope);
}

function resolve(reference: string, root: Schema): unknown {
  if (reference !== "#" && !reference.startsWith("#/")) return true;
  let found: unknown = root;
  for (const key of reference.split("/").slice(1)) {
    const name = decodeURIComponent(key).replaceAll("~1", "/").replaceAll("~0", "~");
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found ?? true;
}

// True where the value is of one of these types; reports where it is of none.
function checkTypes(type: unknown, value: unknown, scope: Scope): boolean {
  const types = Array.isArray(type) ? type : [type];
  if (types.length === 0 || types.some((name) => isOfType(name, value))) return true;
  report(scope, `must be ${types.join(" or ")}, not ${nameOf(value)}`);
  return false;
}

function isOfType(type: unknown, value: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "number" || type === "string") return typeof value === type;
  return type === nameOf(value);
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function checkChoice(schema: Schema, value: unknown, scope: Scope): void {
  const choices = "const" in schema ? [schema.const] : schema.enum;
  if (!Array.isArray(choices)) return;
  const text = JSON.stringify(value);
  if (choices.some((choice) => JSON.stringify(choice) === text)) return;
  report(scope, `must be ${choices.map((choice) => JSON.stringify(choice)).join(" or ")}, not ${text}`);
}

function checkCombinations(schema: Schema, value: unknown, scope: Scope): void {
  for (const part of listOf(schema.allOf)) check(part, value, scope);
  const any = listOf(schema.anyOf);
  if (any.length > 0 && !any.some((part) => fits(part, value, scope))) report(scope, "fits none of the allowed forms");
  const one = listOf(schema.oneOf);
  if (one.length === 0) return;
  const count = one.filter((part) => fits(part, value, scope)).length;
  if (count !== 1) report(scope, `fits ${count} of the allowed forms instead of one`);
}

// Asked once for each form and object: forms that contain one another would double the work with every level.
function fits(schema: unknown, value: unknown, scope: Scope): boolean {
  if (typeof value !== "object" || value === null) return fitsAnew(schema, value, scope);
  const { fitting } = scope;
  fitting.known ??= new Map();
  const known = fitting.known.get(value) ?? new Map<unknown, boolean>();
  fitting.known.set(value, known);
  const isFit = known.get(schema) ?? fitsAnew(schema, value, scope);
  known.set(schema, isFit);
  return isFit;
}

function fitsAnew(schema: unknown, value: unknown, { root, fitting }: Scope): boolean {
  const scope: Scope = { root, place: "", problems: [], fitting };
  check(schema, value, scope);
  return scope.problems.length === 0;
}

function checkNumber(schema: Schema, value: number, scope: Scope): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (typeof minimum === "number" && value < minimum) report(scope, `must be at least ${minimum}`);
  if (typeof maximum === "number" && value > maximum) report(scope, `must be at most ${maximum}`);
  if (typeof exclusiveMinimum === "number" && value <= exclusiveMinimum)
    report(scope, `must be more than ${exclusiveMinimum}`);
  if (typeof exclusiveMaximum === "number" && value >= exclusiveMaximum)
    report(scope, `must be less than ${exclusiveMaximum}`);
  if (typeof multipleOf === "number" && !isMultiple(value, multipleOf))
    report(scope, `must be a multiple of ${multipleOf}`);
}

// 19.99 is a multiple of 0.01, though floating point has it a little off.
function isMultiple(value: number, of: number): boolean {
  const quotient = value / of;
  return Math.abs(quotient - Math.round(quotient)) <= Math.abs(quotient) * Number.EPSILON;
}

function checkText(schema: Schema, value: string, scope: Scope): void {
  const { minLength, maxLength, pattern } = schema;
  const length = typeof minLength === "number" || typeof maxLength === "number" ? [...value].length : 0;
  if (typeof minLength === "number" && length < minLength) report(scope, `must have at least ${minLength} characters`);
  if (typeof maxLength === "number" && length > maxLength) report(scope, `must have at most ${maxLength} characters`);
  if (typeof pattern === "string" && expressionOf(pattern)?.test(value) === false)
    report(scope, `must match ${pattern}`);
}

// Many schemas are written for engines that are less strict than "u"; a pattern that none takes constrains nothing.
function expressionOf(pattern: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags);
    } catch {}
  }
  return undefined;
}

function checkList(schema: Schema, value: readonly unknown[], scope: Scope): void {
  const { minItems, maxItems, items, prefixItems } = schema;
  if (typeof minItems === "number" && value.length < minItems) report(scope, `must have at least ${minItems} items`);
  if (typeof maxItems === "number" && value.length > maxItems) report(scope, `must have at most ${maxItems} items`);
  const fixed = listOf(prefixItems ?? (Array.isArray(items) ? items : undefined));
  value.forEach((item, index) => {
    const rule = index < fixed.length ? fixed[index] : Array.isArray(items) ? schema.additionalItems : items;
    check(rule, item, { ...scope, place: `${scope.place}[${index}]` });
  });
}

function checkProperties(schema: Schema, value: Record<string, unknown>, scope: Scope): void {
  if (schema.required !== undefined) checkRequired(listOf(schema.required), value, scope);
  const { properties, patternProperties } = schema;
  const patterns = isObject(patternProperties) ? Object.entries(patternProperties) : undefined;
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue;
    const place = inside(scope, name);
    let isKnown = isObject(properties) && Object.hasOwn(properties, name);
    if (isKnown) check((properties as Schema)[name], value[name], place);
    if (patterns !== undefined && checkPatterns(patterns, name, { value: value[name], place })) isKnown = true;
    if (!isKnown) check(schema.additionalProperties, value[name], place);
  }
}

function checkRequired(names: readonly unknown[], value: object, scope: Scope): void {
  for (let i = 0; i < names.length; i++) {
    const name = String(names[i]);
    if (!Object.hasOwn(value, name)) report(inside(scope, name), "is missing");
  }
}

interface Property {
  readonly value: unknown;
  readonly place: Scope;
}

// True where one of the patterns is for this name.
function checkPatterns(patterns: readonly [string, unknown][], name: string, { value, place }: Property): boolean {
  const rules = patterns.filter(([pattern]) => expressionOf(pattern)?.test(name));
  for (const [, rule] of rules) check(rule, value, place);
  return rules.length > 0;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function inside({ root, place, problems, fitting }: Scope, name: string): Scope {
  return { root, place: place === "" ? name : `${place}.${name}`, problems, fitting };
}

function report({ place, problems }: Scope, problem: string): void {
  problems.push(place === "" ? problem : `${place} ${problem}`);
}
