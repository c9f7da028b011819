// The links of Markdown pages, as the links test sees them.
import { posix } from "node:path";

const repository = "https://github.com/offstage-dev/offstage/";

export interface PageLink {
  /** The page that holds the link, from the root of the repository. */
  readonly page: string;
  /** The file or folder that it leads to, from the root of the repository. */
  readonly target: string;
  /** The heading it leads to, or "". */
  readonly anchor: string;
  /** A relative link needs its target beside the page; another one leads to the repository on the web. */
  readonly isRelative: boolean;
}

/** The links of a page to files of the repository, relative or by its address. Links elsewhere are left out. */
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

/** The anchors of a page: its headings as GitHub names them. */
export function anchorsOf(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#+ +(.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** Paths of the repository that a page names in a code span that is not the text of a link. */
export function namedPathsOf(text: string): string[] {
  return [...withoutCode(text).matchAll(/(?<!\[)`((?:packages|examples|bench|interop)\/[\w./-]*)`/g)].map(
    ([, path = ""]) => path,
  );
}

function withoutCode(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, "");
}
