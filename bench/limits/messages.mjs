// Messages to search and export: turns of a question, a tool call, its result and an answer.

const TURN = ["user", "assistant", "tool", "assistant"];

/** `count` messages in OpenAI chat form, with contents cut from `texts`; every twelfth tool is "search". */
export function makeMessages(count, texts) {
  return Array.from({ length: count }, (_, index) => messageAt(index, texts));
}

function messageAt(index, texts) {
  const role = TURN[index % 4];
  const content = flat(texts[index % texts.length].slice(0, 40 + (index % 200)));
  if (role === "tool") {
    return { role, tool_call_id: `call_${index}`, name: toolAt(index), content };
  }
  if (index % 4 === 1) {
    const call = { name: toolAt(index + 1), arguments: '{"path":"a/b.txt"}' };
    return { role, content: null, tool_calls: [{ id: `call_${index + 1}`, type: "function", function: call }] };
  }
  return { role, content };
}

function toolAt(index) {
  return index % 12 === 0 ? "search" : "read_file";
}

function flat(text) {
  return Buffer.from(text.toWellFormed()).toString("utf8");
}
