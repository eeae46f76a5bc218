import { formatTable, printableLine, wrap } from '@sluice/platform/process';

/** The result of one check. */
export interface Check {
  /** `cluster production`, `bus`, `store`, `configuration` */
  readonly about: string;
  readonly check: string;
  /** A note matters only to some, or says what could not be checked. */
  readonly result: 'ok' | 'note' | 'warning' | 'failed';
  readonly detail: string;
  /** What to do; absent if the check passed. */
  readonly advice?: string;
}

export const ok = (about: string, check: string, detail: string): Check => ({ about, check, result: 'ok', detail });
export const note = (about: string, check: string, detail: string, advice: string): Check => ({
  about,
  check,
  result: 'note',
  detail,
  advice,
});
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

/** Below this width, a table of four columns leaves too little room for the last one. */
const minTableWidth = 100;

/** A table of the checks, followed by recommendations in the same order. */
export function listChecks(checks: readonly Check[], width = Number.POSITIVE_INFINITY): string {
  const table =
    width < minTableWidth
      ? formatTable(
          ['RESULT', 'CHECK'],
          checks.map(({ result, about, check, detail }) => [result, `${about}, ${check}: ${detail}`]),
          width,
        )
      : formatTable(
          ['RESULT', 'ABOUT', 'CHECK', 'DETAIL'],
          checks.map(({ result, about, check, detail }) => [result, about, check, detail]),
          width,
        );
  const advised = Map.groupBy(
    checks.filter(({ advice }) => advice),
    ({ about, advice = '' }) => `${about}\n${advice}`,
  );
  const advice = [...advised.values()].map((same) => {
    const [{ about, advice = '' } = { about: '' }] = same;
    const names = [...new Set(same.map(({ check }) => check))];
    const text = printableLine(`${about}, ${names.join(' and ')}: ${advice}`);
    return `${wrap(text, width - 4).join('\n    ')}\n`;
  });
  return advice.length === 0 ? table : `${table}\nRecommendations:\n${advice.map((line) => `  ${line}`).join('')}`;
}

/** One line of JSON per check. */
export const jsonChecks = (checks: readonly Check[]): string =>
  checks.map((check) => `${JSON.stringify(check)}\n`).join('');
