// A model that stands for several: each is tried when the ones before it have failed.
import { OffstageError } from "../errors.ts";
import { adaptModel } from "./adapt-model.ts";
import type { AnyModel, Model, ModelCallOptions } from "./model.ts";

/** A model with others to fall back on. An agent tries them itself, so that each gets retries and a prompt in its own form. */
export interface FallbackModel extends Model {
  /** In the order in which they are tried. */
  readonly models: readonly AnyModel[];
}

/**
 * Tries the next model when one has failed: after its retries, for any reason but an abort, and never after text was streamed. An agent
 * records which model answered, and prices its tokens. In one run, a model that failed is not tried again.
 */
export function fallbackModel(models: readonly AnyModel[]): FallbackModel {
  if (!Array.isArray(models) || models.length === 0)
    throw new OffstageError(
      "invalid-argument",
      "fallbackModel() needs a list of models: fallbackModel([first, second]).",
    );
  const all = models.flatMap(modelsOf);
  const adapted = all.map(adaptModel);
  const [first] = adapted as [Model];
  return {
    specificationVersion: "v4",
    provider: first.provider,
    modelId: first.modelId,
    ...(first.supportedUrls !== undefined && { supportedUrls: first.supportedUrls }),
    models: Object.freeze(all),
    doGenerate: (options) =>
      tryEach(adapted, options, async (model) => {
        const result = await model.doGenerate(options);
        return { ...result, response: { modelId: model.modelId, ...result.response } };
      }),
    doStream: (options) => tryEach(adapted, options, (model) => model.doStream(options)),
  };
}

/** The models that a model stands for: those of a fallback model, or itself. */
export function modelsOf(model: AnyModel): readonly AnyModel[] {
  const { models } = (model ?? {}) as Partial<FallbackModel>;
  return Array.isArray(models) && models.length > 0 ? models : [model];
}

// For callers other than an agent, such as the summariser of a memory.
async function tryEach<T>(
  models: readonly Model[],
  { abortSignal }: ModelCallOptions,
  call: (model: Model) => PromiseLike<T>,
): Promise<T> {
  for (const [index, model] of models.entries()) {
    try {
      return await call(model);
    } catch (error) {
      if (abortSignal?.aborted || index === models.length - 1) throw error;
    }
  }
  throw new OffstageError("model-failed", "There is no model to try.");
}
