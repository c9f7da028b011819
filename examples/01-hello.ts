// Lesson 1: import the package and ask which version it is.
import { version } from "offstage";

console.log(`Hello from Offstage ${version}.`);
