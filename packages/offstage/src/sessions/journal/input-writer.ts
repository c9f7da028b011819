// Turns the input of a model call into a reference, and the contents that it needs. The reader is records/model-input.ts.
import type { JsonValue } from "../../base/json.ts";
import type { Message } from "../../messages/message.ts";
import { newContent } from "../conversation/conversation.ts";
import type { SessionCell } from "../head/session-cell.ts";
import type { InputRecord, InputSetup } from "../ports/run-record.ts";
import type { Write } from "../ports/store-driver.ts";
import { type Content, contentOf, formatInput, type RowRef } from "../rows/contents.ts";
import { redactValue } from "../rows/redaction.ts";

/** A longer reference is itself kept as a content. */
const longestRef = 400;

export interface StoredInput {
  readonly ref: string;
  readonly writes: readonly Write[];
}

/**
 * The reference of an input, and the contents to write with it; undefined if the store keeps no inputs. The messages in `stored`
 * were read from the store, so they are redacted already.
 */
export function storeInput(
  cell: SessionCell,
  input: InputRecord | undefined,
  stored: ReadonlySet<Message>,
): StoredInput | undefined {
  const { keepInput, redact } = cell.context;
  if (input === undefined || keepInput === false) return undefined;
  const writes: Write[] = [];
  const keep = (content: Content): string => {
    if (keepInput === "all") writes.push(...newContent(cell, content));
    return content.hash;
  };
  const refOf = (message: Message): RowRef | string => {
    const ref = cell.refs.get(message);
    if (ref !== undefined) return ref;
    const kept = redact === undefined || stored.has(message) ? message : redact(message);
    return keep(contentOf(JSON.stringify(kept), cell.hasher));
  };
  const text = formatInput(keep(setupOf(cell, input.setup)), input.messages?.map(refOf));
  if (text.length <= longestRef) return { ref: text, writes };
  return { ref: `@${keep(contentOf(text, cell.hasher))}`, writes };
}

// The setup of an agent is the same object in every run, so its text is made once.
function setupOf({ context, hasher }: SessionCell, setup: InputSetup): Content {
  const known = context.setups.get(setup);
  if (known !== undefined) return known;
  const { redact } = context;
  const value = setup as unknown as JsonValue;
  const kept = redact === undefined ? value : redactValue(redact, value, { role: "system", content: "" });
  const content = contentOf(JSON.stringify(kept), hasher);
  context.setups.set(setup, content);
  return content;
}
