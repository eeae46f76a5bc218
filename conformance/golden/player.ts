import { parentPort, workerData } from 'node:worker_threads';
import { replayScenario } from '../replay/replay-scenario.ts';
import { parseScenario } from '../replay/scenario.ts';
import { type Deviation, deviations } from '../replay/upstream/policy.ts';
import { type AsShipped, readAsShipped, smallestSet } from './as-shipped.ts';
import { compareScenario } from './compare-scenario.ts';
import { comparedRounds, isCompared, type Omission } from './compared-rounds.ts';
import { isExplained, isListed } from './explained.ts';
import type { Result, Vector } from './vector.ts';

/**
 * `upstream`: with all deviations reproduced. `shipped`: with none; a scenario that differs must be listed with the deviations
 * that explain it. `search`: finds these.
 */
export type Mode = 'upstream' | 'shipped' | 'search';

export interface Played {
  readonly name: string;
  readonly class: Vector['class'];
  /** Empty if the run agrees with the vector. */
  readonly differences: readonly string[];
  /** The differences are listed, with their reason; or there should be some. */
  readonly listed: boolean;
  /** Deviations that explain the differences. */
  readonly deviations?: readonly Deviation[];
  /** Why rounds were not compared, one element a round. */
  readonly omitted: readonly Omission[];
  readonly rounds: number;
}

/** Replays one vector and compares the result. */
export async function play(line: string, mode: Mode, list: AsShipped = readAsShipped()): Promise<Played> {
  const vector = JSON.parse(line) as Vector;
  const rounds = comparedRounds(vector, mode === 'upstream');
  const omitted = rounds.flatMap((round) => (isCompared(round) ? [] : [round]));
  const played = { name: vector.name, class: vector.class, omitted, rounds: rounds.length, listed: false };
  const run = async (reproduced: readonly Deviation[]) => {
    const result = await replayScenario(parseScenario(line), new Set(reproduced));
    const options = { resyncs: reproduced.includes('A7'), events: mode === 'upstream' };
    return compareScenario(vector, result as unknown as Result, options);
  };
  try {
    const differences = await run(mode === 'upstream' ? deviations : []);
    if (mode === 'upstream') return { ...played, ...judged(vector.name, differences, false) };
    if (mode === 'shipped') return { ...played, ...(await judgedAsShipped(vector.name, differences, list, run)) };
    if (differences.length === 0) return { ...played, differences };
    const found = await smallestSet(async (set) => (await run(set)).length === 0);
    return { ...played, differences, ...(found !== undefined && { deviations: found }) };
  } catch (error) {
    return { ...played, differences: [error instanceof Error ? (error.stack ?? error.message) : String(error)] };
  }
}

type Judged = Pick<Played, 'differences' | 'listed' | 'deviations'>;

function judged(name: string, differences: readonly string[], asShipped: boolean): Judged {
  const listed = differences.length === 0 ? isListed(name, asShipped) : isExplained(name, differences, asShipped);
  return { differences, listed };
}

/** A listed scenario passes with its deviations reproduced, and with no fewer. */
async function judgedAsShipped(
  name: string,
  differences: readonly string[],
  list: AsShipped,
  run: (reproduced: readonly Deviation[]) => Promise<readonly string[]>,
): Promise<Judged> {
  const listed = list[name];
  if (listed === undefined) return judged(name, differences, true);
  if (differences.length === 0) return { differences, listed: true };
  const remaining = await run(listed);
  if (remaining.length > 0)
    return { differences: [`differs with ${listed.join(' ')} reproduced`, ...remaining], listed: false };
  for (const key of listed.length > 1 ? listed : []) {
    const needless = (await run(listed.filter((other) => other !== key))).length === 0;
    if (needless) return { differences: [`passes without ${key}`], listed: false };
  }
  return { differences, listed: true, deviations: listed };
}

// In a worker: replays batches of vectors.
if (parentPort !== null) {
  const list = readAsShipped();
  parentPort.on('message', async (lines: readonly string[]) => {
    const played: Played[] = [];
    for (const line of lines) played.push(await play(line, workerData as Mode, list));
    parentPort?.postMessage(played);
  });
}
