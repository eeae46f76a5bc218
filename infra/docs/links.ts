import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { type Finding, type Page, proseLines, withoutCode } from './markdown.ts';

/** Every relative link whose file does not exist, or whose anchor is no heading of its page. */
export function checkLinks(pages: readonly Page[], root: string): Finding[] {
  const anchors = new Map(pages.map(({ path, text }) => [path, anchorsOf(text)]));
  return pages.flatMap(({ path, text }) =>
    linksOf(text).flatMap(({ line, target }) => {
      const message = fault(path, target, anchors, root);
      return message === undefined ? [] : [{ path, line, message }];
    }),
  );
}

/** Every page under docs/ that no page links to, so that no reader finds it. */
export function unlinkedPages(pages: readonly Page[]): Finding[] {
  const linked = new Set(
    pages.flatMap(({ path, text }) =>
      linksOf(text).map(({ target }) => normalize(join(dirname(path), target.split('#')[0] ?? ''))),
    ),
  );
  return pages
    .filter(({ path }) => path.startsWith('docs/') && !linked.has(path))
    .map(({ path }) => ({ path, line: 1, message: 'no page links here; add it to the index of its folder' }));
}

const topFolders = 'bench|bin|chaos|conformance|demo|docs|fake-apiserver|infra|libs|services|tests';

/** Every path in inline code that starts with a folder of the repository and does not exist. */
export function missingPaths(pages: readonly Page[], root: string): Finding[] {
  const paths = new RegExp(`\`((?:${topFolders})/[\\w./-]+)\``, 'g');
  return pages.flatMap(({ path, text }) =>
    proseLines(text).flatMap((line, index) =>
      [...line.matchAll(paths)]
        .filter(([, file = '']) => !existsSync(join(root, file)))
        .map(([, file]) => ({ path, line: index + 1, message: `${file} does not exist` })),
    ),
  );
}

function fault(
  from: string,
  target: string,
  anchors: ReadonlyMap<string, ReadonlySet<string>>,
  root: string,
): string | undefined {
  if (/^[a-z]+:/i.test(target)) return undefined;
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? from : normalize(join(dirname(from), file));
  if (file !== '' && !existsSync(join(root, path))) return `broken link ${target}: no file ${path}`;
  if (anchor === undefined || anchors.get(path)?.has(anchor) === true) return undefined;
  return `broken link ${target}: ${path} has no heading #${anchor}`;
}

function linksOf(text: string): { line: number; target: string }[] {
  return proseLines(text).flatMap((line, index) =>
    [...withoutCode(line).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({ line: index + 1, target })),
  );
}

/** The anchors that GitHub gives to the headings of a page. */
export function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const line of proseLines(text)) {
    const [, title] = /^#+ (.*)$/.exec(line) ?? [];
    if (title === undefined) continue;
    const anchor = title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-');
    let unique = anchor;
    for (let count = 1; anchors.has(unique); count += 1) unique = `${anchor}-${count}`;
    anchors.add(unique);
  }
  return anchors;
}
