import { formatTable, printable } from '@sluice/process';

/** What a look at one thing found. */
export interface Check {
  /** `cluster production`, `bus`, `store`, `configuration` */
  readonly about: string;
  readonly check: string;
  readonly result: 'ok' | 'warning' | 'failed';
  readonly detail: string;
  /** What to do; nothing if all is well. */
  readonly advice?: string;
}

export const ok = (about: string, check: string, detail: string): Check => ({ about, check, result: 'ok', detail });
export const warning = (about: string, check: string, detail: string, advice: string): Check => ({
  about,
  check,
  result: 'warning',
  detail,
  advice,
});
export const failed = (about: string, check: string, detail: string, advice: string): Check => ({
  about,
  check,
  result: 'failed',
  detail,
  advice,
});

/** A table, then what to do, in the order of the table. */
export function listChecks(checks: readonly Check[]): string {
  const rows = checks.map(({ result, about, check, detail }) => [result, about, check, printable(detail)]);
  const table = formatTable(['RESULT', 'ABOUT', 'CHECK', 'DETAIL'], rows);
  const advice = checks.flatMap(({ about, check, advice }) =>
    advice ? [`${about}, ${check}: ${printable(advice)}\n`] : [],
  );
  return advice.length === 0 ? table : `${table}\nRecommendations:\n${advice.map((line) => `  ${line}`).join('')}`;
}

/** One line each. */
export const jsonChecks = (checks: readonly Check[]): string =>
  checks.map((check) => `${JSON.stringify(check)}\n`).join('');
