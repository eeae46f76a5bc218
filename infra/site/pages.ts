import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { proseLines, readPages, withoutCode } from '../docs/markdown.ts';
import type { Group } from './paths.ts';

const isOnSite = (path: string): boolean =>
  /^(docs\/.*|conformance\/README|README|SECURITY|CONTRIBUTING|CHANGELOG)\.md$/.test(path);

/** The pages of the site, and the files that they link to, such as images and manifests. */
export function siteFiles(root: string): { readonly pages: readonly string[]; readonly files: readonly string[] } {
  const pages = readPages(root).filter(({ path }) => isOnSite(path));
  const files = pages.flatMap(({ path, text }) =>
    targetsOf(text)
      .filter((target) => /\.(svg|png|yaml|json)$/.test(target))
      .map((target) => normalize(join(dirname(path), target)))
      .filter((file) => existsSync(join(root, file))),
  );
  return { pages: pages.map(({ path }) => path), files: [...new Set(files)].sort() };
}

/** The index of all pages in docs/README.md: its sections and their links, in that order. */
export function sidebar(root: string): readonly Group[] {
  const groups: Group[] = [];
  for (const line of readFileSync(join(root, 'docs/README.md'), 'utf8').split('\n')) {
    const [, section] = /^\*\*([^*]+)\*\*/.exec(line) ?? [];
    if (section !== undefined) groups.push({ text: section, items: [] });
    for (const [, text = '', target = ''] of line.matchAll(/\[([^\]]+)\]\(([^)\s#]+\.md)\)/g)) {
      const link = `/${normalize(join('docs', target)).replace(/\.md$/, '.html')}`;
      groups.at(-1)?.items.push({ text: capitalized(text.replaceAll('`', '')), link });
    }
  }
  return groups;
}

/** The files that a page links to, without anchors. */
function targetsOf(text: string): readonly string[] {
  return proseLines(text).flatMap((line) =>
    [...withoutCode(line).matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/i.test(target)),
  );
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
