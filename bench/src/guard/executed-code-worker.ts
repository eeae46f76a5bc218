import { parentPort, workerData } from 'node:worker_threads';
import { CodeCounter } from '../executed-code.ts';
import type { CountedReplay } from './replays.ts';

const { name, changes } = workerData as CountedReplay;
// The folders of this checkout: its own path may contain such names.
const sources = ['libs', 'services'].map((room) => new URL(`../../../${room}/`, import.meta.url).href);
const counter = await CodeCounter.start((url) => sources.some((source) => url.startsWith(source)));
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
