import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Finding, type Page, proseLines, withoutCode } from './markdown.ts';

/** A retired expression: a regular expression for whole words, and what to write instead. */
export interface Term {
  readonly find: string;
  readonly use: string;
}

/** A piece of text that people read, and the line of its file where it starts. */
export interface Text {
  readonly line: number;
  readonly text: string;
}

export const terms: readonly Term[] = JSON.parse(readFileSync(join(import.meta.dirname, 'terms.json'), 'utf8'));

/** Every retired term in the prose of the pages. Code and link targets are not prose. */
export function checkPages(pages: readonly Page[]): Finding[] {
  return pages.flatMap(({ path, text }) => {
    const lines = proseLines(text).map((line) => withoutCode(line).replace(/\]\([^)]*\)/g, ']'));
    return checkTexts(
      path,
      lines.map((line, index) => ({ line: index + 1, text: line })),
    );
  });
}

export function checkTexts(path: string, texts: readonly Text[]): Finding[] {
  return texts.flatMap(({ line, text }) =>
    patterns.flatMap(({ pattern, use }) =>
      [...text.matchAll(pattern)].map(([found]) => ({ path, line, message: `"${found}" is retired; use: ${use}` })),
    ),
  );
}

/** Whether a file may contain a finding at all: saves parsing the others. */
export function mentionsRetired(text: string): boolean {
  return patterns.some(({ pattern }) => text.search(pattern) >= 0);
}

const patterns = terms.map(({ find, use }) => ({ pattern: new RegExp(`\\b(?:${find})\\b`, 'giu'), use }));
