import { test } from "vitest";
import { sessionContract } from "../testing/session-contract.ts";
import { InMemorySession } from "./in-memory-session.ts";

for (const { name, run } of sessionContract(() => new InMemorySession())) test(name, run);
