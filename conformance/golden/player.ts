import { parentPort, workerData } from 'node:worker_threads';
import { replayScenario } from '../replay/replay-scenario.ts';
import { parseScenario } from '../replay/scenario.ts';
import { type CompareOptions, compareScenario } from './compare-scenario.ts';
import { isExplained } from './explained.ts';
import type { Result, Vector } from './vector.ts';

/** What a worker is started with. */
export interface PlayerOptions extends CompareOptions {
  /** Nothing of upstream is reproduced that Sluice does otherwise. */
  readonly asShipped: boolean;
}

export interface Played {
  readonly name: string;
  readonly class: Vector['class'];
  /** What differs; empty if nothing does. */
  readonly differences: readonly string[];
  /** docs/reference/deviations.md says why it differs: it is on the list, at the latest once upstream's ways are reproduced. */
  readonly explained: boolean;
}

/** Plays one vector and compares what comes out. */
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

// In a worker: plays the lines that it is sent, and answers each batch with what became of it.
parentPort?.on('message', async (lines: readonly string[]) => {
  const played: Played[] = [];
  for (const line of lines) played.push(await play(line, workerData as PlayerOptions));
  parentPort?.postMessage(played);
});
