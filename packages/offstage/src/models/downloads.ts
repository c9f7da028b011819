// Downloads of one run: files at URLs that the model does not fetch itself. Offstage fetches nothing: the agent's `download` does.
import type { Cancellation } from "../base/cancellation.ts";
import { isObject } from "../base/json.ts";
import { shownValue } from "../base/options.ts";
import { messageOf, OffstageError } from "../errors.ts";
import { markerOf, markerWith, mediaTypeOfBytes, plainUrl } from "./media.ts";
import type { Model, PromptFile, PromptText } from "./model.ts";
import { listsUrl, rulesOf, type SupportedUrls } from "./provider-rules.ts";

export interface DownloadOptions {
  /** Aborts with the run. */
  readonly signal: AbortSignal;
  /** The media type that the message states, such as "image/*"; undefined if it states none. */
  readonly mediaType?: string | undefined;
}

export interface DownloadedFile {
  /** Bytes, or base64 text. */
  readonly data: Uint8Array | string;
  readonly mediaType: string;
}

/** Fetches the file at a URL. Called once per URL and run. */
export type Download = (url: string, options: DownloadOptions) => DownloadedFile | PromiseLike<DownloadedFile>;

/** A file that is given by its URL. */
export type UrlFile = PromptFile & { readonly data: { readonly type: "url"; readonly url: URL } };

/** Replaces files at URLs by their bytes, unless the model fetches the URLs itself. */
export class Downloads {
  readonly #modelNow: () => Model;
  readonly #download: Download | undefined;
  readonly #cancellation: Cancellation;
  readonly #files = new Map<string, Promise<PromptFile>>();

  /** `modelNow` returns the model of the present step. */
  constructor(modelNow: () => Model, download: Download | undefined, cancellation: Cancellation) {
    this.#modelNow = modelNow;
    this.#download = download;
    this.#cancellation = cancellation;
  }

  /** The file as it can be sent. Throws `invalid-message` if the model does not fetch the URL and the agent cannot download it. */
  async fileFor(part: UrlFile): Promise<PromptFile> {
    const { url } = part.data;
    if (await this.#isFetchedByModel(url.href, part.mediaType)) return part;
    if (this.#download === undefined) throw this.#refusal(url);
    const known = this.#files.get(url.href) ?? this.#fetch(part, this.#download);
    this.#files.set(url.href, known);
    const { data, mediaType } = await this.#cancellation.race(known);
    return { ...part, data, mediaType };
  }

  /** The same, or a marker if it cannot be sent. */
  async fileOrMarker(part: UrlFile): Promise<PromptFile | PromptText> {
    if (!(await this.#canShow(part))) return markerOf(part);
    try {
      return await this.fileFor(part);
    } catch {
      this.#cancellation.signal.throwIfAborted();
      return markerWith(part, "not shown: it could not be fetched");
    }
  }

  // The model fetches the file, or there is a download function.
  async #canShow({ data, mediaType }: UrlFile): Promise<boolean> {
    return this.#download !== undefined || (await this.#isFetchedByModel(data.url.href, mediaType));
  }

  // A model that lists no URLs at all may still pass images on: that is tried only if there is no other way.
  async #isFetchedByModel(url: string, mediaType: string): Promise<boolean> {
    const model = this.#modelNow();
    const { urls = {} } = rulesOf(model.provider);
    if (urls === "none") return false;
    const listed: SupportedUrls | undefined = await model.supportedUrls;
    if (listed === undefined || listsUrl(listed, url, mediaType) || listsUrl(urls, url, mediaType)) return true;
    const isSilent = Object.keys(listed).length === 0;
    return isSilent && this.#download === undefined && /^image\//.test(mediaType) && /^https?:/.test(url);
  }

  async #fetch({ data: { url }, mediaType }: UrlFile, download: Download): Promise<PromptFile> {
    const { signal } = this.#cancellation;
    let file: unknown;
    try {
      file = await download(url.href, { signal, mediaType });
    } catch (cause) {
      this.#cancellation.signal.throwIfAborted();
      throw new OffstageError("run-failed", `The download of "${plainUrl(url)}" failed: ${messageOf(cause)}`, {
        cause,
      });
    }
    const { data, mediaType: found } = isObject(file) ? file : ({} as Record<string, unknown>);
    if (!(data instanceof Uint8Array || typeof data === "string") || typeof found !== "string")
      throw new OffstageError(
        "run-failed",
        `"download" must return { data, mediaType }, with bytes or base64 text as data; found ${shownValue(file)}.`,
      );
    const type = found.split(";")[0]?.trim() ?? "";
    return { type: "file", mediaType: mediaTypeOfBytes(type, data), data: { type: "data", data } };
  }

  #refusal(url: URL): OffstageError {
    const { provider, modelId } = this.#modelNow();
    return new OffstageError(
      "invalid-message",
      `The model "${modelId}" of "${provider}" does not fetch "${plainUrl(url)}". Pass the agent a "download" function, or send the file as data.`,
    );
  }
}
