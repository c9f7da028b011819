// A driver: how an agent speaks with its model. It translates; the loop does everything else, the same for every driver.
import type { ModelTool } from "../../models/model.ts";
import type { ToPrompt } from "../../models/model-input.ts";
import type { ModelSettings } from "../../models/model-settings.ts";
import type { ModelReply, RequestedCall } from "../../models/reply.ts";
import type { DeltaListener } from "../../models/stream-reply.ts";
import type { Correction } from "../../state/step.ts";
import type { Tool } from "../../tools/tool.ts";

/** What a reply means. */
export interface Reading {
  readonly text: string;
  readonly calls: readonly RequestedCall[];
  /** The reply could not be read: what the model is told. */
  readonly correction?: Correction;
}

/**
 * Translates between the loop and one way of speaking with models.
 *
 * **Contract:** pure; the same tools give the same preamble, the same reply the same reading. A reply that cannot be read
 * becomes a correction, never a throw.
 */
export interface Driver {
  readonly name: string;
  /** Put behind the instructions. */
  preamble(tools: readonly Tool[]): string | undefined;
  /** What the provider is told of the tools. */
  modelTools(tools: readonly Tool[]): ModelTool[] | undefined;
  readonly toPrompt: ToPrompt;
  readonly settings?: ModelSettings | undefined;
  read(reply: ModelReply): Reading;
  /** Wraps the listener of a streamed reply, where the protocol must not be shown as it is. */
  readonly listen?: ((listener: DeltaListener) => DeltaListener) | undefined;
}
