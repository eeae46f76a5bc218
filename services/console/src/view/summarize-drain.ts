import type { Pod, PodDetails } from '@sluice/model';
import type { DrainView, NamedService } from './schemas.ts';

/** Time from the slice to the rules of the last kube-proxy: a second between two syncs, and a sync of a second. */
export const defaultProxyDelayMs = 2_000;

interface Removals extends NamedService {
  /** How long each took until the slices showed it, in milliseconds. */
  readonly times: readonly number[];
}

/**
 * How long a Pod of the Service should continue to serve once its deletion is requested. What the slices need is measured; what
 * proxies need is assumed, because no API object shows it. `pods`: those that the Service has.
 */
export function summarizeDrain({ times, ...name }: Removals, pods: readonly Pod[], proxyDelayMs: number): DrainView {
  const sorted = [...times].sort((a, b) => a - b);
  const p99Ms = quantile(sorted, 0.99);
  const neededSeconds = Math.ceil((p99Ms + proxyDelayMs) / 1_000);
  const details = pods.flatMap((pod) => pod.details ?? []);
  return {
    ...name,
    removals: sorted.length,
    p50Ms: quantile(sorted, 0.5),
    p99Ms,
    maxMs: sorted.at(-1) ?? 0,
    proxyDelayMs,
    neededSeconds,
    preStop: [...new Set(details.flatMap(hooksOf))].sort(),
    gracePeriodSeconds: details.length === 0 ? null : Math.min(...details.map((one) => one.gracePeriodSeconds)),
    isLongEnough: isLongEnough(details, neededSeconds),
  };
}

/** Hooks of a Pod's containers; `none` if no container has one. */
function hooksOf({ preStop }: PodDetails): readonly string[] {
  const hooks = preStop.filter((hook) => hook !== '');
  return hooks.length === 0 ? ['none'] : hooks;
}

/** Null if it depends on a hook of unknown length. The grace period ends every hook. */
function isLongEnough(pods: readonly PodDetails[], neededSeconds: number): boolean | null {
  if (pods.length === 0) return null;
  const lengths = pods.map((pod) => {
    const hooks = hooksOf(pod).map(lengthOf);
    return hooks.includes(null) ? null : Math.min(pod.gracePeriodSeconds, Math.max(...hooks.map(Number)));
  });
  if (lengths.some((length) => length !== null && length < neededSeconds)) return false;
  return lengths.includes(null) ? null : true;
}

/** Of `sleep 5 s`, in seconds. */
function lengthOf(hook: string): number | null {
  if (hook === 'none') return 0;
  const [, seconds] = /^sleep (\d+) s$/.exec(hook) ?? [];
  return seconds === undefined ? null : Number(seconds);
}

/** Nearest rank; of few values, the 99th percentile is the largest one. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
}
