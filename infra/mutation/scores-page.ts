import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RecordedScores } from './recorded-scores.ts';
import { rooms } from './rooms.ts';
import { score, sum, total } from './score.ts';

const page = join(import.meta.dirname, '../../docs/contributing/mutation.md');
const begin = '<!-- results: npm run mutation -->';
const end = '<!-- end of the results -->';

const headings = ['room', 'goal', 'mutants', 'killed', 'timeout', 'survived', 'no coverage', 'score', 'commit', 'date'];

/** The page with the table of recorded scores. */
export function withScores(text: string, scores: RecordedScores): string {
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${page} lacks "${begin}" or "${end}"`);
  return `${before}${begin}\n\n${table(scores)}\n${end}${after}`;
}

export const readPage = (): string => readFileSync(page, 'utf8');

export function writePage(scores: RecordedScores): void {
  writeFileSync(page, withScores(readPage(), scores));
}

function table(scores: RecordedScores): string {
  const rows = rooms.flatMap(({ name, goal }) => {
    const recorded = scores[name];
    if (recorded === undefined) return [];
    const counts = sum(Object.values(recorded.files));
    const { killed, timeout, survived, uncovered } = counts;
    const numbers = [total(counts), killed, timeout, survived, uncovered].map(String);
    return [[name, `${goal} %`, ...numbers, `${score(counts).toFixed(2)} %`, recorded.commit, recorded.date]];
  });
  const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |\n`;
  return [line(headings), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('');
}
