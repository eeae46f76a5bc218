import { type Clock, type Random, randomInteger } from '@sluice/platform';
import type { OrdinaryCluster } from './ordinary-cluster.ts';

const minute = 60;
const hour = 60 * minute;
export const day = 24 * hour;
const weekdays = [0, 1, 2, 3, 4];

interface WeekOptions {
  readonly cluster: OrdinaryCluster;
  readonly clock: Clock;
  readonly random: Random;
  /** Nothing writes Endpoints and slices for a while, because another kube-controller-manager takes over. */
  readonly changeLeader: (seconds: number) => void;
  /** The API server does not answer for a while. */
  readonly stopApiServer: (seconds: number) => void;
  /** The recorder cannot watch EndpointSlices for a while. */
  readonly interruptWatch: (seconds: number) => void;
  readonly restartRecorder: (seconds: number) => void;
}

/** Plans the ordinary operations of a day; 0 is a Monday. */
export function planDay(today: number, options: WeekOptions): void {
  const { cluster, clock, random } = options;
  const between = (least: number, most: number) => randomInteger(random, least, most);
  const at = (second: number, run: () => void) => clock.schedule(second * 1_000, run);
  const times = (count: number, [from, to]: readonly [number, number], run: () => void) => {
    for (let n = 0; n < count; n++) at(between(from * hour, to * hour), run);
  };
  const isWeekday = weekdays.includes(today % 7);
  times(60, [0, 24], () => cluster.crashAny());
  times(20, [0, 24], () => cluster.deleteAnyPod());
  times(10, [0, 24], () => cluster.changeCustomEndpoints());
  for (const workload of cluster.of('autoscaled')) {
    for (let second = 0; second < day; second += 5 * minute) {
      const load = 6 - 4 * Math.cos((2 * Math.PI * (second - 2 * hour)) / day) + between(-1, 1);
      at(second + between(0, 60), () => workload.scale(Math.max(2, Math.round(load))));
    }
  }
  for (const workload of cluster.of('report')) {
    for (let second = between(0, hour); second < day; second += hour)
      at(second, () => cluster.runJob(workload, between(20, 20 * minute)));
  }
  for (const workload of cluster.of('office hours')) {
    if (isWeekday) at(7 * hour + between(0, 10 * minute), () => workload.scale(2));
    at(20 * hour + between(0, 10 * minute), () => workload.scale(0));
  }
  if (isWeekday) {
    for (const workload of cluster.all.filter(({ options: { kind } }) => kind !== 'Job'))
      if (random.next() < 0.7) at(between(9 * hour, 18 * hour), () => workload.replicas > 0 && workload.rollOut());
    times(20, [8, 18], () => cluster.scaleAny());
    times(6, [8, 17], () => cluster.openPreview(between(hour, 5 * hour)));
    times(1, [9, 12], () => cluster.addApplication(`new-${today}`, between(30, 4 * minute), 4 * hour));
  }
  if (today % 7 === 1 || today % 7 === 3) {
    at(10 * hour, () => cluster.upgradeNodes());
    // The control plane is upgraded on the same day.
    times(3, [10, 11], () => options.changeLeader(between(15, 20)));
    times(3, [10, 11], () => options.stopApiServer(between(5, 30)));
  }
  times(2, [9, 17], () => options.interruptWatch(between(3, 20)));
  at(between(0, 24 * hour), () => options.restartRecorder(between(3, 60)));
}
