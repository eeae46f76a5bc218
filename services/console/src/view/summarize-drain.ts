import type { DrainView, NamedService } from './schemas.ts';

/** Time from the slice to the rules of the last kube-proxy: a second between two syncs, and a sync of a second. */
export const defaultProxyDelayMs = 2_000;

interface Removals extends NamedService {
  /** How long each took until the slices showed it, in milliseconds. */
  readonly times: readonly number[];
}

/**
 * How long a Pod of the Service should continue to serve once its deletion is requested. What the slices need is measured; what proxies
 * need is assumed, because no API object shows it.
 */
export function summarizeDrain({ times, ...name }: Removals, proxyDelayMs: number): DrainView {
  const sorted = [...times].sort((a, b) => a - b);
  const p99Ms = quantile(sorted, 0.99);
  return {
    ...name,
    removals: sorted.length,
    p50Ms: quantile(sorted, 0.5),
    p99Ms,
    maxMs: sorted.at(-1) ?? 0,
    proxyDelayMs,
    recommendedPreStopSeconds: Math.ceil((p99Ms + proxyDelayMs) / 1_000),
  };
}

/** Nearest rank; of few values, the 99th percentile is the largest one. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
}
