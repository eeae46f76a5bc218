import { formatTable, printableLine } from '@sluice/process';

/** The result of one check. */
export interface Check {
  /** `cluster production`, `bus`, `store`, `configuration` */
  readonly about: string;
  readonly check: string;
  readonly result: 'ok' | 'warning' | 'failed';
  readonly detail: string;
  /** What to do; absent if the check passed. */
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

/** A table of the checks, followed by recommendations in the same order. */
export function listChecks(checks: readonly Check[]): string {
  const rows = checks.map(({ result, about, check, detail }) => [result, about, check, detail]);
  const table = formatTable(['RESULT', 'ABOUT', 'CHECK', 'DETAIL'], rows);
  const advised = Map.groupBy(
    checks.filter(({ advice }) => advice),
    ({ about, advice = '' }) => `${about}\n${advice}`,
  );
  const advice = [...advised.values()].map((same) => {
    const [{ about, advice = '' } = { about: '' }] = same;
    const names = [...new Set(same.map(({ check }) => check))];
    return `${about}, ${names.join(' and ')}: ${printableLine(advice)}\n`;
  });
  return advice.length === 0 ? table : `${table}\nRecommendations:\n${advice.map((line) => `  ${line}`).join('')}`;
}

/** One line of JSON per check. */
export const jsonChecks = (checks: readonly Check[]): string =>
  checks.map((check) => `${JSON.stringify(check)}\n`).join('');
