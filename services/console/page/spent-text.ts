import type { TimeSpent } from '../src/view/entry-schemas.ts';
import type { TraceView } from '../src/view/schemas.ts';

/** Smaller shares are left out. */
const leastShare = 0.05;

/** `82 % API server, 11 % writer queue`; empty if nothing is known. */
export function spentText(spent: TraceView['spent']): string {
  const total = spent.reduce((sum, { ms }) => sum + ms, 0);
  const shown = spent.filter(({ ms }) => ms >= leastShare * total);
  return shown.map(({ where, ms }) => `${Math.round((ms / total) * 100)} % ${where}`).join(', ');
}

/** Smaller shares of a slow write are left out. */
const leastShareOfWrite = 0.02;

/** What held a write, as it continues `held by`. */
export const holders: Readonly<Partial<Record<TimeSpent['where'], string>>> = {
  'batch period': 'the batch period',
  'adaptive batching': 'adaptive batching',
  'write cooldown': 'the write cooldown',
  'plan in flight': 'a plan in flight',
  retry: 'the retry of a failed write',
  'repair interval': 'the interval between repairs',
  'hint pacing': 'the pace of hint updates',
  'mass-change guard': 'the mass-change guard',
};

/** `took 1.9 s: held 1.8 s by the batch period, API server 60 ms`; empty for a fast write. */
export function slowWriteText(
  { spent = [], latencyMs }: { readonly spent?: readonly TimeSpent[] | undefined; readonly latencyMs: number | null },
  duration: (ms: number) => string,
): string {
  if (latencyMs === null || spent.length === 0) return '';
  const shown = spent.filter(({ ms }) => ms >= leastShareOfWrite * latencyMs);
  const parts = shown.map(({ where, ms }) => {
    const holder = holders[where];
    return holder === undefined ? `${where} ${duration(ms)}` : `held ${duration(ms)} by ${holder}`;
  });
  return `took ${duration(latencyMs)}: ${parts.join(', ')}`;
}
