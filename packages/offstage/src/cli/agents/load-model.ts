// Finds a model by a name such as "openai/gpt-5-mini", with a key from the environment. Only the command line does that.
import { isObject } from "../../base/json.ts";
import { messageOf } from "../../errors.ts";
import type { AnyModel } from "../../index.ts";
import { UsageError } from "../arguments.ts";
import type { Io } from "../io.ts";
import { findPackage } from "./find-package.ts";

interface Provider {
  readonly package: string;
  readonly maker: string;
  /** The variable that has its key; undefined if it needs none. */
  readonly key?: string;
  /** The address of a server that speaks as OpenAI does. */
  readonly baseUrl?: string;
}

const compatible = { package: "@ai-sdk/openai-compatible", maker: "createOpenAICompatible" } as const;

const providers: Readonly<Record<string, Provider>> = {
  openai: { package: "@ai-sdk/openai", maker: "createOpenAI", key: "OPENAI_API_KEY" },
  anthropic: { package: "@ai-sdk/anthropic", maker: "createAnthropic", key: "ANTHROPIC_API_KEY" },
  google: { package: "@ai-sdk/google", maker: "createGoogleGenerativeAI", key: "GOOGLE_GENERATIVE_AI_API_KEY" },
  mistral: { package: "@ai-sdk/mistral", maker: "createMistral", key: "MISTRAL_API_KEY" },
  openrouter: { ...compatible, key: "OPENROUTER_API_KEY", baseUrl: "https://openrouter.ai/api/v1" },
  groq: { ...compatible, key: "GROQ_API_KEY", baseUrl: "https://api.groq.com/openai/v1" },
  ollama: { ...compatible, baseUrl: "http://127.0.0.1:11434/v1" },
};

/** The names of the providers. */
export const providerNames: readonly string[] = Object.keys(providers);

/** The model of a name. With `baseUrl`, the name is whatever that server calls it. */
export async function loadModel(
  { world: { env, cwd } }: Io,
  name: string,
  baseUrl: string | undefined,
): Promise<AnyModel> {
  const [prefix = "", ...rest] = name.split("/");
  const provider: Provider | undefined = baseUrl === undefined ? providers[prefix] : compatible;
  const modelId = baseUrl === undefined ? rest.join("/") : name;
  if (provider === undefined || modelId === "")
    throw new UsageError(
      `--model takes a provider and a model, such as openai/gpt-5-mini; found "${name}". Providers: ${providerNames.join(", ")}; or any server with --base-url.`,
    );
  const key = keyOf(provider, baseUrl, env);
  const make = await makerOf(provider, cwd);
  const url = baseUrl ?? (prefix === "ollama" && env.OLLAMA_HOST ? hostUrl(env.OLLAMA_HOST) : provider.baseUrl);
  const made = make({
    ...(key !== undefined && { apiKey: key }),
    ...(url !== undefined && { name: baseUrl === undefined ? prefix : "server", baseURL: url, includeUsage: true }),
  });
  return made(modelId);
}

function keyOf({ key }: Provider, baseUrl: string | undefined, env: Io["world"]["env"]): string | undefined {
  if (baseUrl !== undefined) return env.OPENAI_API_KEY || undefined;
  if (key === undefined) return undefined;
  if (env[key]) return env[key];
  throw new UsageError(
    `The key of this provider is expected in ${key}, which is not set. Set it, or try offstage chat --demo, which needs none.`,
  );
}

type Maker = (options: object) => (modelId: string) => AnyModel;

async function makerOf({ package: name, maker }: Provider, cwd: string): Promise<Maker> {
  const found = findPackage(name, cwd);
  if (found?.main === undefined)
    throw new UsageError(`This model needs the package "${name}". Install it: npm install ${name}`);
  try {
    const loaded: unknown = await import(found.main);
    const make = isObject(loaded) ? loaded[maker] : undefined;
    if (typeof make === "function") return make as Maker;
  } catch (error) {
    throw new UsageError(`The package "${name}" cannot be loaded: ${messageOf(error)}`);
  }
  throw new UsageError(
    `The package "${name}" ${found.version} has no ${maker}(). Install a newer one: npm install ${name}`,
  );
}

function hostUrl(host: string): string {
  return `${/^https?:/.test(host) ? host : `http://${host}`}`.replace(/\/$/, "").replace(/(\/v1)?$/, "/v1");
}
