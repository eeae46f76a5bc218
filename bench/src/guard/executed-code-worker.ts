import { parentPort, workerData } from 'node:worker_threads';
import { CodeCounter } from '../executed-code.ts';
import type { CountedReplay } from './replays.ts';

const { name, changes } = workerData as CountedReplay;
const counter = await CodeCounter.start((url) => /\/(libs|services)\//.test(url));
const [{ Replay }, { shapes, warmUpChanges }] = await Promise.all([
  import('../replay-cost.ts'),
  import('./replays.ts'),
]);
const replay = new Replay(shapes[name]);
await replay.round(warmUpChanges);
await counter.take();
await replay.round(changes);
const characters = await counter.take();
await replay.stop();
parentPort?.postMessage(characters);
