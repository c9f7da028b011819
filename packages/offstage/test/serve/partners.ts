// The packages of interop/serve, which only slow tests use.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { interopFolder } from "../support/interop.ts";

export const partnersFolder: string = `${interopFolder("serve")}/`;

/** Imports a package of interop/serve. */
export async function partner<T>(name: string): Promise<T> {
  const { resolve } = createRequire(`${partnersFolder}package.json`);
  return (await import(pathToFileURL(resolve(name)).href)) as T;
}
