import type { HttpCluster } from '@sluice/kubernetes';
import { type Clock, type Random, sleep } from '@sluice/runtime';
import { whatAFreshStartWrites } from './fresh-start.ts';
import type { AuditTail } from './observe/audit-tail.ts';
import type { SteadyServices } from './world/steady-services.ts';

export interface RestOptions {
  readonly steady: SteadyServices;
  readonly reader: HttpCluster;
  readonly audit: AuditTail;
  readonly clock: Clock;
  readonly random: Random;
}

/** What was lost last of all is noticed within a minute (ADR 0017); and then it takes as long as it takes. */
const limitMs = 120_000;
const quietMs = 1_000;

/** Waits until nothing is written any more and everything is right. Returns what still is not, and how long it took. */
export async function rest(options: RestOptions): Promise<{ readonly wrong: readonly string[]; readonly ms: number }> {
  const { steady, reader, clock, random } = options;
  const began = clock.monotonic();
  for (;;) {
    const lastWriteAt = await quiet(options, began + limitMs);
    const wrong = [
      ...(await steady.wrong()),
      ...(await whatAFreshStartWrites({ reader, writer: reader, clock, random })).map(
        (line) => `a fresh start would still ${line}`,
      ),
    ];
    if (wrong.length === 0) return { wrong, ms: Math.max(0, lastWriteAt - began) };
    if (clock.monotonic() - began > limitMs) return { wrong, ms: clock.monotonic() - began };
    await sleep(clock, quietMs);
  }
}

/** Returns when the last write was noticed. */
async function quiet({ audit, clock }: RestOptions, limit: number): Promise<number> {
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
