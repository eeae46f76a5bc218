import { parentPort, workerData } from 'node:worker_threads';
import { replayScenario } from '../replay/replay-scenario.ts';
import { parseScenario } from '../replay/scenario.ts';
import { type CompareOptions, compareScenario } from './compare-scenario.ts';
import { isExplained } from './explained.ts';
import type { Result, Vector } from './vector.ts';

/** Passed to each worker. */
export interface PlayerOptions extends CompareOptions {
  /** Does not reproduce known deviations. */
  readonly asShipped: boolean;
}

export interface Played {
  readonly name: string;
  readonly class: Vector['class'];
  /** Empty if the run agrees with the vector. */
  readonly differences: readonly string[];
  /**
   * The differences are known deviations (docs/reference/deviations.md): they disappear when the deviations are
   * reproduced, or are listed.
   */
  readonly explained: boolean;
}

/** Replays one vector and compares the result. */
export async function play(line: string, { asShipped, ...compared }: PlayerOptions): Promise<Played> {
  const vector = JSON.parse(line) as Vector;
  const run = async (shipped: boolean) => {
    const result = await replayScenario(parseScenario(line), { asShipped: shipped });
    return compareScenario(vector, result as unknown as Result, compared);
  };
  const isDeviation = async (differences: readonly string[]) => {
    if (differences.length === 0) return false;
    const remaining = asShipped ? await run(false) : differences;
    return remaining.length === 0 || isExplained(vector.name, remaining);
  };
  try {
    const differences = await run(asShipped);
    return { name: vector.name, class: vector.class, differences, explained: await isDeviation(differences) };
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { name: vector.name, class: vector.class, differences: [text], explained: false };
  }
}

// In a worker: replays batches of vectors.
parentPort?.on('message', async (lines: readonly string[]) => {
  const played: Played[] = [];
  for (const line of lines) played.push(await play(line, workerData as PlayerOptions));
  parentPort?.postMessage(played);
});
