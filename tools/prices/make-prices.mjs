// Writes packages/offstage/src/tokens/prices.ts from the data of @pydantic/genai-prices. Run it with `npm run prices`.
import { readFileSync, writeFileSync } from "node:fs";
import { findProvider } from "@pydantic/genai-prices";
import { priceOf } from "../../packages/offstage/src/tokens/price-of.ts";

// The first provider that lists a name sets its price.
const providers = [
  ...["openai", "anthropic", "google", "mistral", "x-ai", "deepseek", "cohere", "groq"],
  ...["aws", "together", "fireworks"],
];
const source = JSON.parse(readFileSync("package.json", "utf8")).devDependencies["@pydantic/genai-prices"];
const target = new URL("../../packages/offstage/src/tokens/prices.ts", import.meta.url);
const date = new Date().toISOString().slice(0, 10);
const noon = new Date(`${date}T12:00:00Z`);

// Names so short that they would fit unrelated models, all of them retired.
const tooShort = new Set(["ada", "babbage", "command", "curie", "davinci"]);
// Bedrock has one price for all regions, and another one for "global.".
const region = /^(?:apac|au|ca|eu|in|jp|regional|us|us-gov)\./;
// Some gateways write "claude-4.5-sonnet".
const family = /^claude-([a-z]+)-(\d+(?:[.-]\d)?)$/;
const release = /-\d{8}(?:-v\d+:\d+)?$/;

/** The names in a rule of the package. Patterns and negations are left out: beginnings do their work here. */
function namesIn(rule) {
  if (rule.or !== undefined) return rule.or.flatMap(namesIn);
  if (rule.and !== undefined) return rule.and.flatMap(namesIn);
  return [rule.equals ?? rule.starts_with ?? rule.contains ?? rule.ends_with].filter((name) => name !== undefined);
}

function keysOf(provider, { id, match }) {
  // Fireworks has names of its own for models that others serve too.
  const names = provider === "fireworks" ? namesIn(match) : [id, ...namesIn(match)];
  const all =
    provider === "aws"
      ? names.map((name) => name.replace(region, "").replace(release, ""))
      : names.flatMap((name) => [name, name.replace(family, "claude-$2-$1")]);
  return all.filter((name) => {
    if (name.endsWith(":free") || tooShort.has(name)) return false;
    // On Bedrock and Vertex these are models of other providers under names that the table has already.
    if (provider === "aws") return /^(?:global\.)?[a-z]+\./.test(name);
    return provider !== "google" || !name.includes("claude");
  });
}

/** The price at noon UTC of today: the last one whose condition is met. */
function currentPrices(prices) {
  if (!Array.isArray(prices)) return prices;
  return prices.findLast(({ constraint }) => constraint === undefined || isMet(constraint))?.prices ?? {};
}

function isMet({ type, start_date, start_time, end_time }) {
  if (type === "start_date") return noon >= new Date(start_date);
  return start_time <= "12:00:00Z" && "12:00:00Z" < end_time;
}

const base = (price) => price?.base ?? price;

function priceIn(prices) {
  const { input_mtok, output_mtok, cache_read_mtok, cache_write_mtok } = currentPrices(prices);
  if (input_mtok === undefined || output_mtok === undefined) return undefined;
  const price = { input: base(input_mtok), output: base(output_mtok) };
  if (cache_read_mtok !== undefined) price.cachedInput = base(cache_read_mtok);
  if (cache_write_mtok !== undefined) price.cacheWrite = base(cache_write_mtok);
  return price;
}

const plain = (name) => name.toLowerCase().replace(/(?<=\d)\.(?=\d)/g, "-");
const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);

const table = {};
const known = new Set();
for (const providerId of providers) {
  for (const model of findProvider({ providerId }).models) {
    const price = priceIn(model.prices);
    if (price === undefined) continue;
    for (const key of keysOf(providerId, model)) {
      if (known.has(plain(key))) continue;
      known.add(plain(key));
      table[key] = price;
    }
  }
}

// Drops names that another beginning prices in the same way, such as dated versions: the longest first.
for (const key of Object.keys(table).sort((a, b) => b.length - a.length)) {
  const { [key]: price, ...rest } = table;
  if (isSame(priceOf(key, rest), price)) delete table[key];
}

const fields = (price) =>
  Object.entries(price)
    .map(([name, value]) => `${name}: ${value}`)
    .join(", ");
const rows = Object.entries(table).map(([key, price]) => `  ${JSON.stringify(key)}: { ${fields(price)} },`);
writeFileSync(
  target,
  `// List prices: data only, made by \`npm run prices\` on ${date} from @pydantic/genai-prices ${source} (MIT, in THIRD_PARTY_LICENSES).
//
// Simplified: the first tier of prices that rise with the length of the input, the price at noon UTC of prices that change with the
// hour, and text tokens only. Do not edit: run the script again.
import type { PriceTable } from "./price-of.ts";

/** The day on which the list prices were made, as an ISO 8601 date. */
export const listPricesDate = "${date}";

/** The public list prices of well-known models, by the names that the providers' APIs use. */
export const listPrices: PriceTable = {
${rows.join("\n")}
};
`,
);
