// A chat page with plain browser code, over our own events. Driven by test/serve/browser.slow.ts.
const api = "/events";
const id = location.hash.slice(1);
const main = document.querySelector("main");
main.innerHTML = `<ol id="log"></ol>
<form id="ask"><input id="text"> <button>Send</button> <button type="button" id="stop">Stop</button></form>
<output id="status">ready</output>`;
const $ = (selector, within = document) => within.querySelector(selector);
const status = (text) => ($("#status").textContent = text);

function add(parent, tag, properties = {}, data = {}) {
  const element = Object.assign(document.createElement(tag), properties);
  Object.assign(element.dataset, data);
  return parent.appendChild(element);
}

// One list item per run: a run that is read again replaces its item.
function itemOf(runId, isNew) {
  const old = $(`[data-run="${runId}"]`);
  if (old && !isNew) return old;
  const item = document.createElement("li");
  Object.assign(item.dataset, { role: "assistant", run: runId });
  if (old) old.replaceWith(item);
  else $("#log").append(item);
  return item;
}

function toolOf(item, { toolCallId, toolName }) {
  const known = $(`[data-call="${toolCallId}"]`, item);
  return known ?? add(item, "div", { className: "tool", textContent: `${toolName} ` }, { call: toolCallId });
}

function ask(tool, { toolCallId, kind, input, message }) {
  tool.dataset.state = "approval-requested";
  add(tool, "code", { textContent: JSON.stringify(input) });
  const controls = add(tool, kind === "question" ? "form" : "span", { className: "question" });
  const decide = (body) => {
    controls.remove();
    void send(body);
  };
  if (kind === "question") {
    controls.append(`${message} `);
    const answer = add(controls, "input");
    add(controls, "button", { textContent: "Answer" });
    controls.onsubmit = (event) => {
      event.preventDefault();
      decide({ answers: [{ toolCallId, value: { seat: answer.value } }] });
    };
  } else {
    add(controls, "button", {
      textContent: "Approve",
      className: "approve",
      onclick: () => decide({ approve: [toolCallId] }),
    });
    add(controls, "button", {
      textContent: "Reject",
      className: "reject",
      onclick: () => decide({ reject: [toolCallId] }),
    });
  }
}

const states = {
  ok: "output-available",
  error: "output-error",
  interrupted: "output-error",
  rejected: "output-denied",
};

function show(event) {
  const { type, runId, step } = event;
  const item = itemOf(runId, type === "run-start" && !event.isResumed);
  if (type === "text-delta") {
    const text = $(`[data-step="${step}"]`, item) ?? add(item, "p", {}, { step });
    text.textContent += event.delta;
  } else if (type === "tool-start") toolOf(item, event).dataset.state = "input-available";
  else if (type === "tool-end") toolOf(item, event).dataset.state = states[event.status];
  else if (type === "approval-request") ask(toolOf(item, event), event);
  else if (type === "message-joined")
    add(item, "p", { className: "joined", textContent: event.message.parts.map((part) => part.text).join("") });
  else if (type === "run-end") status(event.error ? `error ${event.error}` : "ready");
}

async function read(response) {
  status("streaming");
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (true) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (text + value).split("\n\n");
    text = events.pop();
    for (const event of events) if (event.startsWith("data: ")) show(JSON.parse(event.slice(6)));
  }
}

async function send(body) {
  status("submitted");
  const headers = { "content-type": "application/json" };
  const response = await fetch(api, { method: "POST", headers, body: JSON.stringify({ id, ...body }) });
  if (!response.ok) return status(`error ${response.status}`);
  return read(response);
}

$("#ask").onsubmit = (event) => {
  event.preventDefault();
  const message = $("#text").value;
  $("#text").value = "";
  add(add($("#log"), "li", {}, { role: "user" }), "p", { textContent: message });
  void send({ message });
};
$("#stop").onclick = () => fetch(`${api}/${id}/stream`, { method: "DELETE" });

// The conversation, and then the run that works on it, if there is one.
for (const { id: runId, role, parts } of await (await fetch(`${api}/${id}`)).json()) {
  const item = role === "user" ? add($("#log"), "li", {}, { role }) : itemOf(runId, true);
  for (const part of parts) {
    if (part.type === "text") add(item, "p", { textContent: part.text });
    else if (part.state === "approval-requested") {
      const { kind = "call", message } = part.approval.descriptor ?? {};
      const call = { toolCallId: part.toolCallId, toolName: part.type.slice(5) };
      ask(toolOf(item, call), { ...call, kind, input: part.input, message });
    }
  }
}
const running = await fetch(`${api}/${id}/stream`);
if (running.status === 200) await read(running);
