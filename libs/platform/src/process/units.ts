import { humanDuration } from '../human-duration.ts';

const durationUnits: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/**
 * Parses a duration in the format of Go and Kubernetes (`20s`, `1m30s`, `500ms`) to milliseconds. Undefined if
 * malformed.
 */
export function parseDuration(text: string): number | undefined {
  if (!/^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$/.test(text)) return text === '0' ? 0 : undefined;
  let total = 0;
  for (const [, amount, unit] of text.matchAll(/(?<![0-9.])([0-9.]+)(ms|s|m|h)/g)) {
    total += Number(amount) * (durationUnits[unit ?? ''] ?? 0);
  }
  return total;
}

/** Formats milliseconds for people: with up to three significant digits, and from two minutes on as kubectl does. */
export function formatDuration(ms: number): string {
  // Compare with the rounded values: 59.97 s is shown as 60 s, not as 60.0 s.
  if (ms < 9.95) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  return seconds < 120 ? `${seconds} s` : humanDuration(seconds * 1_000);
}

/** Formats milliseconds exactly, as `parseDuration` accepts: `24h`, `1h30m`, `500ms`. */
export function exactDuration(ms: number): string {
  let rest = ms;
  let text = '';
  for (const [unit, size] of Object.entries(durationUnits).reverse()) {
    // Rounds to six decimals to hide floating-point errors.
    const amount = size === 1 ? Number(rest.toFixed(6)) : Math.floor(rest / size);
    rest -= amount * size;
    if (amount > 0) text += `${amount}${unit}`;
  }
  return text || '0s';
}

const sizeUnits = { Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3, Ti: 1024 ** 4 } as const;

/** Parses a size in the binary units of Kubernetes (`64Mi`, `1Gi`) to bytes. Undefined if malformed. */
export function parseSize(text: string): number | undefined {
  const [, amount, unit] = /^(\d{1,6})(Ki|Mi|Gi|Ti)$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(amount) * sizeUnits[unit as keyof typeof sizeUnits];
}

/** Formats bytes in the largest unit that shows them exactly; undefined if there is none. */
export function exactSize(bytes: number): string | undefined {
  const [unit, size] = Object.entries(sizeUnits).findLast(([, one]) => bytes % one === 0) ?? [];
  return unit === undefined || size === undefined ? undefined : `${bytes / size}${unit}`;
}
