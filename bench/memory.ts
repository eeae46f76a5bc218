/** Attributes the memory of Sluice to its owners. See `--help`. */

import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ensureBinaries } from '@sluice/local';
import { integer, say, selection } from '@sluice/program';
import { measureClusters } from './src/clusters/clusters-measure.ts';
import { CONTROLLERS, SUBJECT } from './src/controllers.ts';
import { parseHeapSnapshot } from './src/heap/heap-snapshot.ts';
import { type HeapSummary, summarizeHeap } from './src/heap/owners.ts';
import { packagesOfClasses } from './src/heap/packages.ts';
import { prepareHeapSnapshots, writeHeapSnapshots } from './src/heap/write-snapshots.ts';
import { measure } from './src/measure.ts';
import { flips, type Phase, rollingRestart } from './src/phase.ts';
import { memoryMb } from './src/process-stats.ts';
import { runBench } from './src/run-bench.ts';
import type { Shape } from './src/shape.ts';
import { number, type Table } from './src/table.ts';

const shapes = ['100x20', '1x1000', 'rollout', '50000'] as const;
type ShapeName = (typeof shapes)[number];

const flipsPerSecond = 100;
/** A simulated API server holds what the real one could not. */
const large = { services: 3_334, pods: 15 };

/** What happens on a real API server. */
function workload(name: Exclude<ShapeName, '50000'>, seconds: number): { shape: Shape; phases: readonly Phase[] } {
  const shape = name === '100x20' ? { services: 100, pods: 20 } : { services: 1, pods: 1_000 };
  return { shape, phases: [name === 'rollout' ? rollingRestart(shape, 50) : flips(flipsPerSecond, seconds)] };
}

interface Measured {
  readonly name: ShapeName;
  readonly mb: number;
  readonly heap: HeapSummary;
}

async function residentMb(name: ShapeName, seconds: number, directory: string, heap: string): Promise<number> {
  if (name === '50000') {
    const options = { clusters: 1, shape: large, rate: flipsPerSecond, seconds, seed: 1, timeoutSeconds: 240, heap };
    return (await measureClusters('all-in-one', options, directory)).mb;
  }
  const [sluice] = CONTROLLERS.filter((controller) => controller.name === SUBJECT);
  if (sluice === undefined) throw new Error(`no controller ${SUBJECT}`);
  let mb = Number.NaN;
  await measure(sluice, 1, {
    ...{ directory: join(directory, 'cluster'), ...workload(name, seconds), timeoutSeconds: 180, fsync: false, say },
    async inspect({ pid = 0 }) {
      mb = memoryMb(pid);
      await writeHeapSnapshots(heap, [pid]);
    },
  });
  return mb;
}

function tableOf({ name, mb, heap: { bytes, owners } }: Measured, rows: number): Table {
  const shown = owners.slice(0, rows);
  const rest = bytes - shown.reduce((sum, owner) => sum + owner.bytes, 0);
  return {
    title: `${name}: ${number(mb)} MB resident, ${number(bytes / 1e6)} MB of live objects`,
    head: ['owner', 'MB', 'objects'],
    rows: [
      ...shown.map((owner) => ({ cells: [owner.name, number(owner.bytes / 1e6), number(owner.objects)] })),
      { cells: ['others', number(rest / 1e6), ''] },
    ],
  };
}

await runBench({
  name: 'memory',
  about: `Attributes the memory of \`sluice run\` to its owners, from a heap snapshot after the load. An object counts for the nearest instance
of a class that refers to it. 100x20 and 1x1000 are Services × Pods at ${flipsPerSecond} flips/s, rollout replaces 1,000 Pods of a Service,
50,000 Pods are on a simulated API server.
`,
  options: {
    shapes: selection(shapes, 'what to measure', [...shapes]),
    seconds: integer(10, 'duration of the flips'),
    top: integer(10, 'number of owners'),
  },
  async measure({ shapes: chosen, seconds, top }, directory) {
    await ensureBinaries(say);
    const heap = join(directory, 'heap');
    prepareHeapSnapshots(heap);
    const packages = packagesOfClasses();
    const measured: Measured[] = [];
    for (const name of chosen) {
      const mb = await residentMb(name, seconds, directory, heap);
      for (const file of readdirSync(heap)) {
        const snapshot = parseHeapSnapshot(readFileSync(join(heap, file)));
        measured.push({ name, mb, heap: summarizeHeap(snapshot, (owner) => packages.get(owner)) });
        rmSync(join(heap, file));
      }
    }
    return { tables: measured.map((one) => tableOf(one, top)), json: measured };
  },
});
