import type { TraceView } from '../src/view/schemas.ts';

/** Smaller shares are left out. */
const leastShare = 0.05;

/** `82 % API server, 11 % writer queue`; empty if nothing is known. */
export function spentText(spent: TraceView['spent']): string {
  const total = spent.reduce((sum, { ms }) => sum + ms, 0);
  const shown = spent.filter(({ ms }) => ms >= leastShare * total);
  return shown.map(({ where, ms }) => `${Math.round((ms / total) * 100)} % ${where}`).join(', ');
}
