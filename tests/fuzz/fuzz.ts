import { randomInteger, seededRandom } from '@sluice/platform';
import { mutate } from './mutate.ts';
import type { FuzzTarget } from './targets.ts';

export interface FuzzFailure {
  readonly target: string;
  readonly seed: number;
  /** Number of the input under this seed, from 0. */
  readonly run: number;
  readonly reason: string;
  readonly input: Buffer;
}

export interface FuzzOptions {
  readonly seed: number;
  /** Whether to run another input after so many. */
  readonly continues: (runs: number) => boolean;
  /** An input that takes longer is a failure. Default 5,000. */
  readonly maxMs?: number;
  /** Monotonic, in milliseconds. */
  readonly now: () => number;
}

export interface FuzzResult {
  readonly runs: number;
  /** The first failures, at most ten. */
  readonly failures: readonly FuzzFailure[];
}

/** Runs a target on its corpus, then on inputs that are derived from it. A seed and a target reproduce a run. */
export async function fuzz(target: FuzzTarget, options: FuzzOptions): Promise<FuzzResult> {
  const { seed, continues, maxMs = 5000, now } = options;
  const { corpus, large = [], name, run } = target;
  const random = seededRandom(seed);
  const failures: FuzzFailure[] = [];
  const known = [...corpus, ...large];
  let runs = 0;
  for (; failures.length < 10 && (runs < known.length || continues(runs)); runs++) {
    const base = corpus[randomInteger(random, 0, corpus.length - 1)] ?? Buffer.alloc(0);
    const input = known[runs] ?? mutate(base, corpus, random);
    const startedAt = now();
    const reason = await failureOf(() => run(input, random));
    const ms = now() - startedAt;
    const slow = ms > maxMs ? `it took ${Math.round(ms)} ms` : undefined;
    if (reason !== undefined || slow !== undefined) {
      failures.push({ target: name, seed, run: runs, reason: reason ?? slow ?? '', input });
    }
  }
  return { runs, failures };
}

async function failureOf(run: () => Promise<void> | void): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
}
