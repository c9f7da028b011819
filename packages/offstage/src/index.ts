// The front door: every public name of the root entry, listed by hand. No code of its own.

export { version } from "./version.ts";
