// "offstage/serve": agents over HTTP.

export type { FetchHandler, NodeHandler } from "../serve/http/node-handler.ts";
export { nodeHandler } from "../serve/http/node-handler.ts";
export type { AgUiEventsOptions, UiMessageChunksOptions } from "../serve/project-stream.ts";
export { agUiEvents, uiMessageChunks } from "../serve/project-stream.ts";
export type { AgUiEvent, AgUiInterrupt } from "../serve/protocols/ag-ui-events.ts";
export type { ProtocolName } from "../serve/protocols/index.ts";
export type { UiMessageChunk } from "../serve/protocols/ui-chunks.ts";
export { serve } from "../serve/serve.ts";
export type { Authorize, Authorized, ServeErrorPlace, ServeOptions } from "../serve/serve-options.ts";
export type { ServedEvent, ServedMessage } from "../serve/telling/served-event.ts";
export type { Show, ToolDetail } from "../serve/telling/show.ts";
