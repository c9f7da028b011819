// The driver port: a protocol between the loop and models that is not their own tool calling. A driver only translates; the loop is the
// same with and without one.
import type { HostedModelTool, ModelTool } from "../../models/model.ts";
import type { ModelSettings } from "../../models/model-settings.ts";
import type { ToPrompt } from "../../models/prompt.ts";
import type { ModelReply, RequestedCall } from "../../models/reply.ts";
import type { DeltaListener } from "../../models/stream-reply.ts";
import type { Correction } from "../../state/step.ts";
import type { Tool } from "../../tools/tool.ts";

/** A reply as a driver reads it. */
export interface Reading {
  readonly text: string;
  readonly calls: readonly RequestedCall[];
  /** Set if the reply could not be read; the model gets its message. */
  readonly correction?: Correction;
}

/**
 * Translates between the loop and one protocol of models.
 *
 * **Contract:** pure: the same tools give the same preamble, and the same reply the same reading. `read` does not throw; it
 * returns a correction for a reply that it cannot read.
 */
export interface Driver {
  readonly name: string;
  /** Text that is appended to the instructions. */
  preamble(tools: readonly Tool[]): string | undefined;
  /** The tools as the provider gets them; undefined if it gets none. */
  modelTools(tools: readonly Tool[]): (ModelTool | HostedModelTool)[] | undefined;
  readonly toPrompt: ToPrompt;
  readonly settings?: ModelSettings | undefined;
  read(reply: ModelReply): Reading;
  /** Wraps the listener of a streamed reply, for a protocol whose raw text is not to be shown. */
  readonly listen?: ((listener: DeltaListener) => DeltaListener) | undefined;
}
