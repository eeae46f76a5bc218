import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Finding, type Page, proseLines, withoutCode } from './markdown.ts';

/** A retired expression. */
export interface Term {
  /** A regular expression for whole words. A space matches any white space, also across the lines of a comment. */
  readonly find: string;
  /** What to write instead. */
  readonly use: string;
  /** Whether comments and test titles may use the expression, for example for the position of a decoder. Default false. */
  readonly allowedInComments?: boolean;
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

/** Every retired term in the texts. `inComments`: the texts are comments or test titles. */
export function checkTexts(path: string, texts: readonly Text[], inComments = false): Finding[] {
  const checked = inComments ? patterns.filter(({ allowedInComments }) => !allowedInComments) : patterns;
  return texts.flatMap(({ line, text }) =>
    checked.flatMap(({ pattern, use }) =>
      [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
        path,
        line: line + text.slice(0, index).split('\n').length - 1,
        message: `"${found.replace(/[\s*/]+/g, ' ')}" is retired; use: ${use}`,
      })),
    ),
  );
}

/** Whether a file may contain a finding at all: saves parsing the others. */
export function mentionsRetired(text: string): boolean {
  return patterns.some(({ pattern }) => text.search(pattern) >= 0);
}

const patterns = terms.map(({ find, ...term }) => {
  const spaced = find.replace(/ (?![^[]*\])/g, String.raw`[\s*/]+`);
  return { ...term, pattern: new RegExp(String.raw`\b(?:${spaced})\b`, 'giu') };
});
