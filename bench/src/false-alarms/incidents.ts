import { type Clock, type Random, randomInteger } from '@sluice/platform';
import type { GroundTruth } from './ground-truth.ts';
import type { OrdinaryCluster, Role } from './ordinary-cluster.ts';
import type { Workload } from './workload.ts';

interface IncidentOptions {
  readonly cluster: OrdinaryCluster;
  readonly clock: Clock;
  readonly random: Random;
  readonly truth: GroundTruth;
  /** Nothing writes Endpoints and slices for a while. */
  readonly stopController: (seconds: number) => void;
}

interface Plan {
  readonly title: string;
  readonly roles: readonly Role[];
  readonly reasons: readonly string[];
  readonly seconds: number;
  readonly start: (workload: Workload, options: IncidentOptions) => void;
  readonly end: (workload: Workload) => void;
}

const minute = 60;
const nothing = () => {};

const plans: readonly Plan[] = [
  {
    title: 'a new version does not start',
    ...{ roles: ['recreated'], reasons: ['NoReadyEndpoints'], seconds: 20 * minute },
    start: (workload) => workload.rollOut({ isBroken: true }),
    end: (workload) => workload.rollOut(),
  },
  {
    title: 'all Pods fail for two minutes',
    ...{ roles: ['web', 'autoscaled'], reasons: ['NoReadyEndpoints'], seconds: 2 * minute },
    start: (workload) => workload.pods.forEach((pod) => void workload.crash(pod, 2 * minute)),
    end: nothing,
  },
  {
    title: 'the selector of a Service is changed to a wrong one',
    ...{ roles: ['web'], reasons: ['NoMatchingPods'], seconds: 30 * minute },
    start: (workload) => workload.putService({ selector: { app: 'another' } }),
    end: (workload) => workload.putService(),
  },
  {
    title: 'the selector of a Service gets a typo',
    ...{ roles: ['single'], reasons: ['NoMatchingPods'], seconds: 30 * minute },
    start: (workload) => workload.putService({ selector: { app: `${workload.options.name}x` } }),
    end: (workload) => workload.putService(),
  },
  {
    title: 'a Service refers to a port that no Pod has',
    ...{ roles: ['web'], reasons: ['UnresolvedPort'], seconds: 30 * minute },
    start: (workload) => workload.putService({ targetPort: 'grpc' }),
    end: (workload) => workload.putService(),
  },
  {
    title: 'a Pod fails and recovers again and again',
    ...{ roles: ['web'], reasons: ['Flapping'], seconds: 15 * minute },
    start: (workload, { clock }) => {
      const [pod] = workload.pods;
      if (pod === undefined) return;
      for (let second = 0; second < 15 * minute; second += 45)
        clock.schedule(second * 1_000, () => workload.crash(pod, 15));
    },
    end: nothing,
  },
  {
    title: 'a Service loses its selector, and its slices stay',
    ...{ roles: ['web'], reasons: ['OrphanedSlices'], seconds: 20 * minute },
    start: (workload) => workload.putService({ selector: null }),
    end: (workload) => workload.putService(),
  },
  {
    title: 'a workload does not start after it was scaled to zero',
    ...{ roles: ['office hours'], reasons: ['NoReadyEndpoints', 'NotStarted'], seconds: 30 * minute },
    start: (workload, { clock }) => {
      workload.scale(0);
      clock.schedule(5 * minute * 1_000, () => {
        workload.rollOut({ isBroken: true });
        workload.scale(2);
      });
    },
    end: (workload) => workload.rollOut(),
  },
];

/** Plants incidents, one of each kind. Plans them for the daytime of a day, an hour apart. */
export function plantIncidents(options: IncidentOptions): void {
  const { cluster, clock, random, truth } = options;
  const used = new Set<Workload>();
  plans.forEach(({ title, roles, reasons, seconds, start, end }, n) => {
    clock.schedule((8 + n) * 3_600_000 + randomInteger(random, 0, 600_000), () => {
      const workload = roles.map((role) =>
        cluster.of(role).find((one) => one.isConverged && one.replicas > 0 && !used.has(one)),
      )[0];
      if (workload === undefined) return;
      used.add(workload);
      const from = clock.now();
      truth.add({ title, service: workload.service, reasons, from, to: from + seconds * 1_000 });
      start(workload, options);
      clock.schedule(seconds * 1_000, () => end(workload));
    });
  });
  clock.schedule(20 * 3_600_000, () => {
    const seconds = 10 * minute;
    const from = clock.now();
    truth.add({
      title: 'kube-controller-manager stops',
      service: undefined,
      reasons: [],
      from,
      to: from + seconds * 1_000,
    });
    options.stopController(seconds);
    // Somebody must need it meanwhile.
    for (let n = 0; n < 20; n++) clock.schedule(randomInteger(random, 5, 300) * 1_000, () => cluster.deleteAnyPod());
  });
}
