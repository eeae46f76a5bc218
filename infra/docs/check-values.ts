import { type Finding, type Page, proseLines } from './markdown.ts';
import { agrees, parseQuantity, quantitiesOf, quantityPattern, shown } from './quantities.ts';
import type { SourceValue } from './source-values.ts';

/**
 * What a page quotes: its words, with `{}` for each value, and where the values come from. A row without `{}` names numbers
 * that are not from our code, and why.
 */
export type Row =
  | readonly [words: string, ...values: readonly SourceValue[]]
  | readonly [words: string, because: string];

/** The rows of each page. A page without an entry is not checked. */
export type Rows = Readonly<Record<string, readonly Row[]>>;

/**
 * Values that differ from the code, rows whose words are gone, and, with `all`, numbers that no row covers: pages of
 * measurements and decisions have many.
 */
export function checkValues(pages: readonly Page[], rows: Rows, { all = true } = {}): Finding[] {
  const texts = new Map(pages.map(({ path, text }) => [path, text]));
  return Object.entries(rows).flatMap(([path, rowsOfPage]) => {
    const text = texts.get(path);
    if (text === undefined)
      return [{ path, line: 1, message: 'infra/docs/values names this page, but it does not exist' }];
    return checkPage({ path, text }, rowsOfPage, all);
  });
}

/** How many values are compared. */
export const countValues = (rows: Rows): number =>
  Object.values(rows)
    .flat()
    .reduce((sum, [words]) => sum + words.split('{}').length - 1, 0);

function checkPage({ path, text }: Page, rows: readonly Row[], all: boolean): Finding[] {
  const readable = readableText(text);
  const covered: [start: number, end: number][] = [];
  const findings: Finding[] = [];
  const report = (offset: number, message: string) =>
    findings.push({ path, line: readable.slice(0, offset).split('\n').length, message });
  for (const [words, ...values] of rows) {
    const matches = [...readable.matchAll(patternOf(words))];
    if (matches.length === 0)
      report(0, `does not say "${words}" any more; change or remove the row of infra/docs/values that expects it`);
    for (const match of matches) {
      const [start, end] = match.indices?.[0] ?? [0, 0];
      covered.push([start, end]);
      for (const [index, value] of values.entries()) {
        if (typeof value === 'string') continue;
        const text = match[index + 1] ?? '';
        const said = value.kind === 'count' ? text : withUnit(text, match[index + 2]);
        const [offset = start] = match.indices?.[index + 1] ?? [];
        if (!agrees(said, value))
          report(offset, `says ${oneLine(said)}; the code says ${shown(value)} (${value.source})`);
      }
    }
  }
  for (const { start, text: number } of all ? quantitiesOf(countable(readable)) : []) {
    if (covered.some(([from, to]) => start >= from && start < to)) continue;
    report(
      start,
      `quotes ${oneLine(number)}, which no row of infra/docs/values covers: add one with the constant it comes from, or with why it is none`,
    );
  }
  return findings;
}

/** The first number of `5 to 10 minutes` has the unit of the second. */
function withUnit(text: string, next = ''): string {
  const [unit] = /[a-zA-Z%]+$/.exec(next) ?? [];
  return unit !== undefined && /^[\d.,]+$/.test(text) ? `${text} ${unit}` : text;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ');

/** `{}` is a quantity, `{…}` at the end the rest of the block; spaces match across lines and columns. */
function patternOf(words: string): RegExp {
  const pattern = words
    .split(/(\{\}|\{…\}|\s+)/)
    .map((part) => {
      if (part === '{}') return `(${quantityPattern})`;
      if (part === '{…}') return String.raw`(?:(?!\n\s*\n)[\s\S])*`;
      return /^\s+$/.test(part) ? String.raw`[\s>]+` : part.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
    })
    .join('');
  return new RegExp(pattern, 'dg');
}

const blank = (text: string): string => text.replaceAll(/[^\n]/g, ' ');

/** The prose of a page, with comments in code blocks, but without link targets, numbers of decisions and of list items. */
function readableText(text: string): string {
  const prose = proseLines(text);
  return text
    .split('\n')
    .map((line, index) => prose[index] || (/(?:^|\s)(# .*)$/.exec(line)?.[1] ?? ''))
    .join('\n')
    .replaceAll(/<!--[\s\S]*?-->/g, blank)
    .replaceAll(/(?<=\])\([^)\s]*\)/g, blank)
    .replaceAll(/\[ADR \d+\]/g, blank)
    .replaceAll(/^\s*\d+\.(?= )/gm, blank);
}

/** The same without inline code, unless it is a quantity and nothing else. Offsets stay. */
function countable(readable: string): string {
  return readable.replaceAll(/`([^`\n]*)`/g, (code, inner: string) =>
    parseQuantity(inner) === undefined ? blank(code) : ` ${inner} `,
  );
}
