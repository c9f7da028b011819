// The script every contender's fake model plays, and the one tool it calls. No timers, no input or output.

const LOREM = " lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor".repeat(8);

function padded(text, length) {
  return (text + LOREM).slice(0, length);
}

export const TOOL_NAME = "add_one";
export const TOOL_DESCRIPTION = "Adds one to x";
export const INSTRUCTIONS = "You are a helpful assistant. Use the tools when needed.";
export const PROMPT = "Please count upwards with the tool and tell me when you are done.";
export const FINAL_TEXT = "All done.";

/** One streamed text delta, about a token. */
export const DELTA = "word ";

function toolReply(id, x) {
  return { isToolCall: true, id, name: TOOL_NAME, input: { x }, json: `{"x":${x}}` };
}

/** Plays `steps` tool calls and then the final text, again and again: one run after another. */
export function loopScript(steps) {
  let step = 0;
  return {
    next() {
      if (step < steps) {
        const x = step++;
        return toolReply(`call_${x}`, x);
      }
      step = 0;
      return { isToolCall: false, text: FINAL_TEXT };
    },
  };
}

/** The same script for overlapping runs of one agent: where a run stands is read from the length of its prompt. */
export function overlappingScript(steps) {
  return {
    next(promptLength) {
      const step = (promptLength - 2) / 2;
      return step < steps ? toolReply(`call_${step}`, step) : { isToolCall: false, text: FINAL_TEXT };
    },
  };
}

/** Plays turns: one tool call and then an answer of 200 characters. */
export function sessionScript() {
  let turn = 0;
  let hasCalled = false;
  return {
    next() {
      if (!hasCalled) {
        hasCalled = true;
        return toolReply(`call_t${turn}`, turn);
      }
      hasCalled = false;
      return { isToolCall: false, text: answerText(turn++) };
    },
  };
}

export function userText(turn) {
  return padded(`Turn ${turn}: what is the state of order number ${turn * 7919}?`, 120);
}

function answerText(turn) {
  return padded(`Answer ${turn}: your order is on its way.`, 200);
}

let toolCallCount = 0;

/** The tool of the loop script. */
export function addOne(x) {
  toolCallCount++;
  return `result ${x + 1}`;
}

/** The tool of the session script: a result of 200 characters. */
export function lookUpOrder(x) {
  toolCallCount++;
  return padded(`order ${x} status ok`, 200);
}

/** The number of tool calls since it was last asked. */
export function takeToolCalls() {
  const count = toolCallCount;
  toolCallCount = 0;
  return count;
}

/** Remembers the longest prompt a fake model was given. */
export function promptGauge() {
  return {
    longest: 0,
    see(length) {
      if (length > this.longest) {
        this.longest = length;
      }
    },
  };
}
