// The links of Markdown pages, for the links test.
import { posix } from "node:path";

const repository = "https://github.com/offstage-dev/offstage/";

export interface PageLink {
  /** The page with the link, relative to the root of the repository. */
  readonly page: string;
  /** The target file or folder, relative to the root of the repository. */
  readonly target: string;
  /** The anchor of the target heading, or "". */
  readonly anchor: string;
  /** True for a relative link, which needs its target beside the page. Other links lead to the repository on the web. */
  readonly isRelative: boolean;
}

/** Returns the links of a page to files of the repository, relative or absolute. Other links are left out. */
export function linksOf(page: string, text: string): PageLink[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = ""]) => {
    const inRepository = link.startsWith(repository) ? link.slice(repository.length) : undefined;
    const [, path, webAnchor = ""] = /^(?:blob|tree)\/main\/([^#]+)(?:#(.*))?$/.exec(inRepository ?? "") ?? [];
    if (path !== undefined) return { page, target: path, anchor: webAnchor, isRelative: false };
    if (/^[a-z]+:/.test(link)) return [];
    const [target = "", anchor = ""] = link.split("#");
    const at = target === "" ? page : posix.join(posix.dirname(page), target);
    return { page, target: at, anchor, isRelative: true };
  });
}

/** Returns the anchors of a page: its headings as GitHub names them. */
export function anchorsOf(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#+ +(.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** Returns the repository paths that a page mentions in code spans outside links. */
export function namedPathsOf(text: string): string[] {
  return [...withoutCode(text).matchAll(/(?<!\[)`((?:packages|examples|bench|interop)\/[\w./-]*)`/g)].map(
    ([, path = ""]) => path,
  );
}

function withoutCode(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, "");
}
