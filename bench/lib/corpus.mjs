// A corpus of chat messages of 200 to 2,000 characters, the same on every machine: prose and code from the documents
// of the ai-sdk peer, JSON as tools return it, and eight languages.
import fs from "node:fs";
import path from "node:path";
import { isInstalled, partsOf } from "./contenders.mjs";

const OTHER_LANGUAGES = [
  "Добрый день! Не могли бы вы проверить статус моего заказа и сообщить, когда он будет доставлен? ",
  "你好，请帮我检查一下这段代码为什么会抛出异常，并给出修复建议。",
  "こんにちは。このログのエラーの原因を調べて、修正方法を教えてください。",
  "¿Podrías resumir el informe trimestral y señalar los riesgos más importantes? ",
  "مرحبا، هل يمكنك تلخيص هذه الوثيقة من فضلك؟ ",
  "Können Sie mir bitte erklären, warum die Prüfung fehlschlägt? 😅🚀 ",
  "안녕하세요, 이 함수의 시간 복잡도를 설명해 주세요. ",
  "हाय, क्या आप मुझे बता सकते हैं कि यह त्रुटि क्यों आ रही है? ",
];
const STATES = ["open", "paid", "packed", "shipped", "delivered", "returned"];
const GOODS = ["lamp", "desk", "kettle", "notebook", "cable", "chair", "monitor", "clock"];

/** Messages of `totalBytes` in all, as flat strings such as JSON.parse or SQLite would give. */
export function corpus(totalBytes, seed = 42) {
  const random = randomOf(seed);
  const prose = textsUnder("docs", ".mdx");
  const code = textsUnder("src", ".ts");
  const json = orders(random, 3000);
  const messages = [];
  for (let bytes = 0; bytes < totalBytes; ) {
    const message = flat(nextMessage(random, { prose, code, json }));
    messages.push(message);
    bytes += Buffer.byteLength(message);
  }
  return messages;
}

/** The bytes of texts in UTF-8. */
export function bytesOf(texts) {
  return texts.reduce((total, text) => total + Buffer.byteLength(text), 0);
}

function nextMessage(random, { prose, code, json }) {
  const length = 200 + Math.floor(random() * 1800);
  const kind = random();
  if (kind < 0.55) {
    return cut(prose, length, random);
  }
  if (kind < 0.75) {
    return cut(code, length, random);
  }
  return kind < 0.93 ? cut(json, length, random) : otherLanguages(length, random);
}

function cut(text, length, random) {
  const start = Math.floor(random() * (text.length - length));
  return text.slice(start, start + length);
}

function otherLanguages(length, random) {
  let text = "";
  while (text.length < length) {
    text += pick(OTHER_LANGUAGES, random);
  }
  return text.slice(0, length);
}

function flat(text) {
  return Buffer.from(text.toWellFormed()).toString("utf8");
}

function orders(random, count) {
  const made = Array.from({ length: count }, (_, index) => ({
    id: `ord_${index}_${Math.floor(random() * 1e9).toString(36)}`,
    status: pick(STATES, random),
    createdAt: new Date(1.7e12 + Math.floor(random() * 3e10)).toISOString(),
    total: Math.round(random() * 1e5) / 100,
    items: [{ sku: pick(GOODS, random), quantity: 1 + Math.floor(random() * 5), gift: random() < 0.2 }],
  }));
  return JSON.stringify(made, null, 2);
}

function pick(values, random) {
  return values[Math.floor(random() * values.length)];
}

/** All files of the `ai` package below a folder, joined in the order of their names. */
function textsUnder(folder, extension) {
  if (!isInstalled("ai-sdk")) {
    throw new Error('The corpus is cut from the ai-sdk peer; run "npm run setup -- ai-sdk"');
  }
  const root = path.join(partsOf("ai-sdk").folder, "node_modules", "ai", folder);
  const files = fs.readdirSync(root, { recursive: true }).filter((file) => file.endsWith(extension));
  return files
    .sort()
    .map((file) => fs.readFileSync(path.join(root, file), "utf8"))
    .join("\n");
}

/** Mulberry32: numbers from 0 to 1 that are the same for the same seed. */
function randomOf(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
