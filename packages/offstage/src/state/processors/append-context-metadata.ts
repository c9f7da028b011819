// Shows the state's metadata to the model, as one user message before the conversation. Rewritten only when it changes. It is no
// system message, since a summary may come before it and some providers take system messages in front only.
import { user } from "../../messages/makers.ts";
import { AgentState } from "../agent-state.ts";
import type { Processor } from "../processor.ts";

const section = AgentState.BUFFER_SECTION;

/** Before a step, the metadata is the last message of the buffer section. Without metadata there is no such message. */
export const appendContextMetadata: Processor = async (state, next) => {
  const buffer = state.section(section);
  const others = buffer.filter((message) => message.metadata?.isContext !== true);
  const shown = Object.fromEntries(Object.entries(state.metadata).filter(([key]) => !key.startsWith("offstage.")));
  if (Object.keys(shown).length === 0) return next(others === buffer ? state : state.withSection(section, others));
  const text = `Context of this conversation:\n${JSON.stringify(shown, null, 2)}`;
  const known = buffer.at(-1);
  if (known?.metadata?.isContext === true && known.content === text) return next(state);
  return next(state.withSection(section, others.append(user(text, { metadata: { isContext: true } }))));
};
