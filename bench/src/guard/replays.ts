import { Worker } from 'node:worker_threads';
import { allocatedBytes } from '../allocation.ts';
import { Replay } from '../replay-cost.ts';
import type { Figures } from './limits.ts';

export const shapes = {
  '20x10': { services: 20, pods: 10 },
  '1x500': { services: 1, pods: 500 },
} as const;
export type ShapeName = keyof typeof shapes;
const shapeNames = Object.keys(shapes) as readonly ShapeName[];
/** The first changes fill caches and states. */
export const warmUpChanges = 2_000;
const measuredChanges = 1_000;

/** What one change costs on average, by shape: the same on each machine, and under any load. */
export interface ReplayCost {
  /** Thousands of characters of Sluice's source code that are executed. */
  readonly code: Figures;
  /** Kilobytes allocated, including those of the fake API server. */
  readonly allocation: Figures;
}

/** `extraWork`: share of the changes that are made twice. */
export async function measureReplays(extraWork = 0): Promise<ReplayCost> {
  const changes = Math.round(measuredChanges * (1 + extraWork));
  const code: Record<string, number> = {};
  const allocation: Record<string, number> = {};
  for (const name of shapeNames) {
    code[name] = (await executedCharacters({ name, changes })) / measuredChanges / 1000;
    allocation[name] = (await allocated({ name, changes })) / measuredChanges / 1024;
  }
  return { code, allocation };
}

export interface CountedReplay {
  readonly name: ShapeName;
  readonly changes: number;
}

/** In a thread of its own, because V8 counts only in code that is loaded after it was asked to. */
function executedCharacters(workerData: CountedReplay): Promise<number> {
  const worker = new Worker(new URL('executed-code-worker.ts', import.meta.url), { workerData });
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (status) => reject(new Error(`the replay ended with exit status ${status}`)));
  });
}

async function allocated({ name, changes }: CountedReplay): Promise<number> {
  const replay = new Replay(shapes[name]);
  try {
    await replay.round(warmUpChanges);
    return await allocatedBytes(async () => {
      await replay.round(changes);
    });
  } finally {
    await replay.stop();
  }
}
