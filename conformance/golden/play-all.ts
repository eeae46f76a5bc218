import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Mode, Played } from './player.ts';

/** Small enough that all workers finish at about the same time. */
const linesPerBatch = 16;

/** Replays all vectors on all cores. Results are in the order of the lines. */
export async function playAll(lines: readonly string[], mode: Mode): Promise<Played[]> {
  const batches: string[][] = [];
  for (let i = 0; i < lines.length; i += linesPerBatch) batches.push(lines.slice(i, i + linesPerBatch));
  const played: (readonly Played[])[] = [];
  let next = 0;
  const work = async () => {
    const worker = new Worker(new URL('./player.ts', import.meta.url), { workerData: mode });
    try {
      for (let index = next++; index < batches.length; index = next++) {
        played[index] = await answer(worker, batches[index] ?? []);
      }
    } finally {
      await worker.terminate();
    }
  };
  const workers = Math.min(availableParallelism(), batches.length);
  await Promise.all(Array.from({ length: workers }, work));
  return played.flat();
}

function answer(worker: Worker, batch: readonly string[]): Promise<readonly Played[]> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (played: readonly Played[]) => {
      worker.off('error', reject);
      resolve(played);
    });
    worker.postMessage(batch);
  });
}
