// A small conversation that every importer must read: a question, a call with text beside it, its result, an answer.
import { assistant, system, toolCall, toolResult, user } from "../../src/messages/makers.ts";
import type { Message } from "../../src/messages/message.ts";

/** The conversation. */
export const weatherTalk: readonly Message[] = [
  system("be brief"),
  user("Weather in Paris?"),
  assistant("Let me look.", { toolCalls: [toolCall("c1", "weather", { city: "Paris" })] }),
  toolResult("c1", "Sunny", { name: "weather" }),
  assistant("It is sunny."),
];

/** The same conversation in a format whose results do not name their tool. */
export const namelessTalk: readonly object[] = weatherTalk.map(({ name: _, ...message }) => message);

/** A few bytes of an image, as base64. */
export const imageData = "iVBORw0KGgo=";
