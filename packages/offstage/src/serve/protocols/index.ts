// The list of protocols.
import { agUi } from "./ag-ui.ts";
import { aiSdk } from "./ai-sdk.ts";
import { events } from "./events.ts";
import type { Protocol } from "./protocol.ts";

export type ProtocolName = "ai-sdk" | "ag-ui" | "events";

/** The protocols by name. */
export const protocols: Readonly<Record<ProtocolName, Protocol>> = { "ai-sdk": aiSdk, "ag-ui": agUi, events };
