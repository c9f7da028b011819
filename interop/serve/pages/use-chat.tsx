// A chat page with `useChat` of the AI SDK, over offstage/serve. Driven by test/serve/browser.slow.ts.
import { useChat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  getToolName,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";
import { useState } from "react";
import { createRoot } from "react-dom/client";

const api = "/ai-sdk";
const id = location.hash.slice(1);

function Chat({ initial }: { initial: UIMessage[] }) {
  const [text, setText] = useState("");
  const { messages, status, error, sendMessage, addToolApprovalResponse, addToolOutput } = useChat({
    id,
    messages: initial,
    resume: true,
    transport: new DefaultChatTransport({ api }),
    sendAutomaticallyWhen: (about) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(about) || lastAssistantMessageIsCompleteWithToolCalls(about),
  });
  const decide = (approved: boolean, approvalId: string) => addToolApprovalResponse({ id: approvalId, approved });
  return (
    <>
      <ol id="log">
        {messages.map(({ id: messageId, role, parts }) => (
          <li key={messageId} data-role={role}>
            {parts.map((part, index) => {
              const key = `${messageId}-${index}`;
              if (part.type === "text") return <p key={key}>{part.text}</p>;
              if (part.type === "steering-message")
                return (
                  <p key={key} className="joined">
                    {part.parts.map((each) => (each.type === "text" ? each.text : ""))}
                  </p>
                );
              if (!isToolUIPart(part)) return null;
              const { approval, state, toolCallId } = part;
              const question = (approval as { descriptor?: { message: string } } | undefined)?.descriptor;
              return (
                <div key={key} className="tool" data-state={state}>
                  {getToolName(part)} <code>{state === "approval-requested" && JSON.stringify(part.input)}</code>
                  {state === "approval-requested" && question === undefined && (
                    <>
                      <button type="button" className="approve" onClick={() => decide(true, approval?.id ?? "")}>
                        Approve
                      </button>
                      <button type="button" className="reject" onClick={() => decide(false, approval?.id ?? "")}>
                        Reject
                      </button>
                    </>
                  )}
                  {state === "approval-requested" && question !== undefined && (
                    <form
                      className="question"
                      onSubmit={(event) => {
                        event.preventDefault();
                        const seat = new FormData(event.currentTarget).get("answer");
                        void addToolOutput({ tool: getToolName(part), toolCallId, output: { seat } });
                      }}
                    >
                      {question.message} <input name="answer" /> <button type="submit">Answer</button>
                    </form>
                  )}
                </div>
              );
            })}
          </li>
        ))}
      </ol>
      <form
        id="ask"
        onSubmit={(event) => {
          event.preventDefault();
          void sendMessage({ text });
          setText("");
        }}
      >
        <input id="text" value={text} onChange={({ target }) => setText(target.value)} />{" "}
        <button type="submit">Send</button>{" "}
        <button type="button" id="stop" onClick={() => void fetch(`${api}/${id}/stream`, { method: "DELETE" })}>
          Stop
        </button>
      </form>
      <output id="status">{error ? `error ${error.message}` : status}</output>
    </>
  );
}

const loaded = await fetch(`${api}/${id}`);
createRoot(document.querySelector("main") as HTMLElement).render(
  <Chat initial={(await loaded.json()) as UIMessage[]} />,
);
