import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasOtherPortOrder, minorOf } from './releases.ts';

/** What was found for one release of Kubernetes. A part that was not run is absent. */
export interface ReleaseResult {
  /** For example `v1.36.3`. */
  readonly kubernetes: string;
  /** Of the last part that was run. */
  readonly date: string;
  /** Tests of the contract suites on its kube-apiserver. */
  readonly contracts?: { readonly passed: number; readonly failed: number };
  /** Recorded scenarios, played with its controllers and with Sluice. */
  readonly vectors?: {
    readonly passed: number;
    readonly failed: number;
    readonly explained: number;
    /** Its controllers panic, so there is nothing to compare. */
    readonly panicked: number;
  };
  /** One seed on two of its kube-apiservers, with its kube-controller-manager on one and Sluice on the other. */
  readonly differential?: {
    readonly seed: number;
    readonly steps: number;
    readonly checkpoints: number;
    readonly slices: number;
    readonly explained: number;
    readonly unexplained: number;
  };
}

export type Part = 'contracts' | 'vectors' | 'differential';
export const parts: readonly Part[] = ['contracts', 'differential', 'vectors'];

export const resultsFile = join(import.meta.dirname, 'results.json');
export const page = join(import.meta.dirname, '../../docs/reference/compatibility.md');

export const readResults = (): readonly ReleaseResult[] =>
  JSON.parse(readFileSync(resultsFile, 'utf8')) as readonly ReleaseResult[];

/** Whether the part was run and nothing failed. */
export function hasPassed({ contracts, vectors, differential }: ReleaseResult, part: Part): boolean {
  if (part === 'differential') return differential?.unexplained === 0 && differential.slices > 0;
  const counts = part === 'contracts' ? contracts : vectors;
  return counts?.failed === 0 && counts.passed > 0;
}

export const isPassed = (result: ReleaseResult): boolean => parts.every((part) => hasPassed(result, part));

/** The results with that of one release, which replaces the one of its minor version. */
export function withResult(results: readonly ReleaseResult[], result: ReleaseResult): readonly ReleaseResult[] {
  const others = results.filter(({ kubernetes }) => minorOf(kubernetes) !== minorOf(result.kubernetes));
  return [...others, result].sort((a, b) => minorOf(a.kubernetes) - minorOf(b.kubernetes));
}

const begin = '<!-- results: npm run compatibility -->';
const end = '<!-- end of the results -->';

/** The page with the table of these results. */
export function withTable(text: string, results: readonly ReleaseResult[]): string {
  const [before, rest] = text.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${page} lacks "${begin}" or "${end}"`);
  return `${before}${begin}\n\n${tableOf(results)}\n${end}${after}`;
}

const headings = ['Kubernetes', 'run on', 'contract tests', 'vectors', 'differential', 'not compared'];

function tableOf(results: readonly ReleaseResult[]): string {
  const rows = results.map(({ kubernetes, date, contracts, vectors, differential }) => [
    kubernetes,
    date,
    contracts === undefined ? notRun : countsOf(contracts),
    vectors === undefined ? notRun : playedIn(vectors),
    differential === undefined ? notRun : comparedIn(differential),
    hasOtherPortOrder(kubernetes) ? 'order of ports' : '–',
  ]);
  const widths = headings.map((heading, i) => Math.max(heading.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |\n`;
  return [line(headings), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('');
}

const notRun = 'not run';

const countsOf = ({ passed, failed }: { readonly passed: number; readonly failed: number }): string =>
  failed === 0 ? `${passed} passed` : `${passed} passed, **${failed} failed**`;

function playedIn(vectors: NonNullable<ReleaseResult['vectors']>): string {
  const { explained, panicked } = vectors;
  return `${countsOf(vectors)}, ${explained} explained${panicked === 0 ? '' : `, ${panicked} upstream panics`}`;
}

function comparedIn({ slices, explained, unexplained }: NonNullable<ReleaseResult['differential']>): string {
  const compared = `${slices} slices compared, ${explained} explained differences`;
  return unexplained === 0 ? compared : `${compared}, **${unexplained} unexplained**`;
}
