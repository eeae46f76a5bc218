import type { Configuration } from '@sluice/fleet/configuration';
import { type Check, ok, warning } from '@sluice/kubernetes/preflight';
import { exactDuration } from '@sluice/platform/process';
import { historyBytes } from '../../composition/telemetry/start-console.ts';

/** The default retention of a bus. */
const dayMs = 24 * 3_600_000;

/** How far back `sluice history`, `explain` and the console can look: what bounds it, and which bound comes first. */
export function historyCheck({ bus, console }: Pick<Configuration, 'bus' | 'console'>): Check {
  const [about, check] = ['history', 'retention'];
  const wanted = exactDuration(console.retentionMs);
  if (bus.kind === 'memory') {
    return ok(about, check, `since process start, at most ${wanted} and ${mebibytes(historyBytes)}`);
  }
  const { changes = dayMs, mutations = dayMs } = (bus.kind === 'nats' ? bus.maxAgeMs : bus.retentionMs) ?? {};
  const kept = Math.min(changes, mutations);
  const limit = `at most ${mebibytes(console.maxBytes)} per console`;
  if (kept >= console.retentionMs) return ok(about, check, `${wanted}, ${limit}`);
  const setting = changes <= mutations ? 'bus.maxAge.changes' : 'bus.maxAge.mutations';
  const detail = `${exactDuration(kept)}, ${limit}: limited by the bus, although console.retention is ${wanted}`;
  return warning(about, check, detail, `raise ${setting}, or lower console.retention`);
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 ** 2)} MiB`;
