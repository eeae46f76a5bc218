import type { HttpCluster } from '@sluice/kubernetes';
import { type Clock, type Random, sleep } from '@sluice/platform';
import { findMissingWrites } from './find-missing-writes.ts';
import type { AuditTail } from './observe/audit-tail.ts';
import type { SteadyServices } from './workload/steady-services.ts';

export interface ConvergenceOptions {
  readonly steady: SteadyServices;
  readonly reader: HttpCluster;
  readonly audit: AuditTail;
  readonly clock: Clock;
  readonly random: Random;
}

/** A change lost last of all is detected within a minute (ADR 0009). The rest is time to recover on a busy machine. */
const limitMs = 120_000;
const quietMs = 1_000;

/**
 * Waits until Sluice writes nothing and all objects are correct. Returns the remaining differences and the time it
 * took.
 */
export async function waitUntilConverged(
  options: ConvergenceOptions,
): Promise<{ readonly wrong: readonly string[]; readonly ms: number }> {
  const { steady, reader, clock, random } = options;
  const began = clock.monotonic();
  for (;;) {
    const lastWriteAt = await quiet(options, began + limitMs);
    const wrong = [
      ...(await steady.differences()),
      ...(await findMissingWrites({ reader, writer: reader, clock, random })).map(
        (line) => `a full recomputation would ${line}`,
      ),
    ];
    if (wrong.length === 0) return { wrong, ms: Math.max(0, lastWriteAt - began) };
    if (clock.monotonic() - began > limitMs) return { wrong, ms: clock.monotonic() - began };
    await sleep(clock, quietMs);
  }
}

/** Waits until no write has occurred for `quietMs`. Returns the time of the last write. */
async function quiet({ audit, clock }: ConvergenceOptions, limit: number): Promise<number> {
  let count = await audit.read();
  let last = clock.monotonic();
  while (clock.monotonic() - last < quietMs && clock.monotonic() < limit) {
    await sleep(clock, 100);
    const now = await audit.read();
    if (now !== count) last = clock.monotonic();
    count = now;
  }
  return last;
}
