import { allocatedBytes } from '../allocation.ts';
import { calibrate, roundTrips } from '../calibrate.ts';
import { Replay } from '../replay-cost.ts';
import type { Figures } from './limits.ts';

const shapes = {
  '20x10': { services: 20, pods: 10 },
  '1x500': { services: 1, pods: 500 },
} as const;
type ShapeName = keyof typeof shapes;
export const replayNames = Object.keys(shapes) as readonly ShapeName[];
/** The first rounds compile the code. */
const [rounds, changes, warmUp] = [80, 50, 40];
/** Of the rounds. The cheapest one may be luck, on a busy machine the median is what the others leave. */
const cheapest = 5;

/** CPU time per change of the replay at these shapes, in calibration units. `plantedUnits`: additional work for each change. */
export async function measureReplays(names: readonly string[], plantedUnits = 0): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const name of replayNames.filter((each) => names.includes(each)))
    figures[name] = await costOf(name, plantedUnits);
  return figures;
}

/** Kilobytes that the replay allocates per change at these shapes, the fake API server included. Other load has no effect on it. */
export async function measureAllocations(): Promise<Figures> {
  const figures: Record<string, number> = {};
  for (const name of replayNames) {
    const replay = new Replay(shapes[name]);
    const run = async () => {
      for (let round = 0; round < warmUp; round++) await replay.round(changes);
    };
    try {
      await run();
      figures[name] = (await allocatedBytes(run)) / (warmUp * changes) / 1024;
    } finally {
      await replay.stop();
    }
  }
  return figures;
}

/** The cheapest rounds show what the program needs; the others include other load on the machine. */
async function costOf(name: ShapeName, plantedUnits: number): Promise<number> {
  const replay = new Replay(
    shapes[name],
    () => ({}),
    () => roundTrips(plantedUnits),
  );
  const costs: number[] = [];
  const units: number[] = [];
  try {
    for (let round = 0; round < warmUp + rounds; round++) {
      const [unit, cost] = [calibrate(300), await replay.round(changes)];
      if (round < warmUp) continue;
      units.push(unit);
      costs.push(cost);
    }
  } finally {
    await replay.stop();
  }
  return nth(costs) / nth(units);
}

const nth = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[cheapest - 1] ?? Number.NaN;
