import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, checkLinks, missingPaths, unlinkedPages } from './links.ts';

const root = import.meta.dirname;
const messages = (...pages: [path: string, text: string][]) =>
  checkLinks(
    pages.map(([path, text]) => ({ path, text })),
    root,
  ).map(({ path, line, message }) => `${path}:${line} ${message}`);

describe('checkLinks', () => {
  it('accepts files, folders, anchors and addresses', () => {
    const text = '# A b\n[1](links.ts) [2](.) [3](#a-b) [4](https://example.com/none) [5](x.md#a-b)';
    expect(messages(['links.md', text], ['x.md', '# A b'])).toEqual(['links.md:2 broken link x.md#a-b: no file x.md']);
  });

  it('reports a missing file and a missing heading with their lines', () => {
    expect(messages(['a/page.md', '# T\n\n[x](../none.md)\n[y](#t) [z](#u)'])).toEqual([
      'a/page.md:3 broken link ../none.md: no file none.md',
      'a/page.md:4 broken link #u: a/page.md has no heading #u',
    ]);
  });

  it('ignores links in code', () => {
    expect(messages(['links.ts', '`[x](none)`\n\n    [x](none)\n\n```\n[x](none)\n```\n'])).toEqual([]);
  });
});

it('anchors are those of GitHub', () => {
  expect([...anchorsOf('# How far back?\n## `sluice run`: flags\n## Same\n### Same')]).toEqual([
    'how-far-back',
    'sluice-run-flags',
    'same',
    'same-1',
  ]);
});

it('a page under docs/ that no page links to is reported', () => {
  const pages = [
    { path: 'README.md', text: '[x](docs/a.md#b)' },
    { path: 'docs/a.md', text: '# B' },
    { path: 'docs/b.md', text: '[x](a.md)' },
  ];
  expect(unlinkedPages(pages).map(({ path }) => path)).toEqual(['docs/b.md']);
});

it('a path in inline code must exist', () => {
  const text = 'See `infra/docs/links.ts`, `docs`, `libs/none/at-all.ts` and `npm run x`.';
  const found = missingPaths([{ path: 'a.md', text }], join(root, '../..'));
  expect(found.map(({ message }) => message)).toEqual(['libs/none/at-all.ts does not exist']);
});
