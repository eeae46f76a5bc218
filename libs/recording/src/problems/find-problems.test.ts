import { expect, test } from 'vitest';
import type { Propagation } from '../propagations.ts';
import type { PropagationQuery } from '../queries.ts';
import { findProblems, type ProblemOptions, type ProblemQuery } from './find-problems.ts';
import type { ServiceProblem } from './joined-problems.ts';
import type { ProblemRule } from './problem-rules.ts';

const web = 'c/shop/web';

const problem = (given: Partial<ServiceProblem>): ServiceProblem => ({
  ...{
    key: web,
    reason: 'NoReadyEndpoints',
    message: '1 Pod: 1 not ready',
    from: 0,
    to: null,
    isStartKnown: true,
    event: null,
  },
  ...given,
});

const late = (
  pod: string,
  startedAt: number,
  endedAt: number | null,
  place: Propagation['place'] = 'slices',
): Propagation => ({
  ...{ key: web, pod, place, from: 'ready', to: 'absent', event: `Pod shop/${pod} deleted`, startedAt },
  ...{ isStartKnown: true, endedAt, end: endedAt === null ? null : 'written' },
});

interface Recorded {
  readonly problems?: readonly ServiceProblem[];
  readonly propagations?: readonly Propagation[];
  readonly changes?: number;
  readonly overwrites?: number;
  readonly overClusters?: ProblemOptions['overClusters'];
}

function find(
  { problems = [], propagations = [], changes = 0, overwrites = 0, overClusters }: Recorded,
  query: Partial<ProblemQuery> = {},
  rules: readonly ProblemRule[] = [],
) {
  const recording = {
    problems: async () => ({ problems, unreadable: [] }),
    propagations: async (one: PropagationQuery) => {
      const isLong = ({ startedAt, endedAt }: Propagation) => (endedAt ?? one.to) - startedAt >= one.atLeastMs;
      return { propagations: propagations.filter(isLong), unreadable: [] };
    },
    managerChanges: async () => {
      const service = {
        key: web,
        changes: overwrites,
        firstAt: 800_000,
        before: 'kube-controller-manager',
        after: 'me',
      };
      return { services: [service], unreadable: [] };
    },
    readinessChanges: async () => {
      const pods = ['web-1', 'web-2'].map((pod) => ({ key: web, pod, changes, firstAt: 700_000, lastAt: 900_000 }));
      return { pods, unreadable: [] };
    },
  };
  const all = { from: 0, to: 1_000_000, keys: '%/%/%', isOpen: false, all: false };
  return findProblems(recording, { ...all, ...query }, { rules, overClusters });
}

test('the most severe come first, then those that began last', async () => {
  const found = await find({
    problems: [
      problem({ reason: 'FragmentedSlices' }),
      problem({ from: 10 }),
      problem({ reason: 'UnresolvedPort' }),
      problem({ from: 20 }),
    ],
  });
  expect(found.map(({ reason, severity, from }) => [reason, severity, from])).toEqual([
    ['NoReadyEndpoints', 'critical', 20],
    ['NoReadyEndpoints', 'critical', 10],
    ['UnresolvedPort', 'warning', 0],
    ['FragmentedSlices', 'info', 0],
  ]);
});

test('what lasts as long as usual changes is no problem', async () => {
  const problems = [
    problem({ from: 0, to: 29_999 }),
    problem({ from: 100_000, to: 130_000 }),
    problem({ from: 980_000 }),
  ];
  expect((await find({ problems })).map(({ from }) => from)).toEqual([100_000]);
  expect(await find({ problems }, { all: true })).toHaveLength(3);
  expect((await find({ problems }, { to: 1_010_000 })).map(({ from }) => from)).toEqual([980_000, 100_000]);
});

test('problems are those of the Services in question', async () => {
  const problems = [problem({}), problem({ key: 'c/pay/web' })];
  expect(await find({ problems }, { keys: '%/shop/%' })).toMatchObject([{ key: web, to: null }]);
});

test('late changes of a Service at the same time are one problem of each place', async () => {
  const propagations = [
    late('web-3', 400_000, 430_000),
    late('web-1', 10_000, 60_000),
    late('web-2', 30_000, 90_000),
    late('web-4', 400_000, null, 'Endpoints'),
  ];
  const found = await find({ propagations });
  expect(found.map(({ message, from, to }) => [message, from, to])).toEqual([
    ['slices show Pod web-3 as ready instead of absent', 400_000, 430_000],
    ['Endpoints show Pod web-4 as ready instead of absent', 400_000, null],
    ['slices show Pod web-1 as ready instead of absent, and 1 more', 10_000, 90_000],
  ]);
  expect(found[2]).toMatchObject({ reason: 'LateChange', severity: 'critical', event: 'Pod shop/web-1 deleted' });
});

test('Pods flap now, and not in a period', async () => {
  const message = 'Pod web-1 became ready or not ready 6 times in 10 minutes, and 1 more';
  expect(await find({ changes: 6 }, { isOpen: true })).toMatchObject([{ reason: 'Flapping', message, from: 700_000 }]);
  expect(await find({ changes: 5 }, { isOpen: true })).toEqual([]);
  expect(await find({ changes: 6 })).toEqual([]);
});

test('managers compete now, and not in a period', async () => {
  const message = 'kube-controller-manager and me overwrote each other 3 times in 10 minutes';
  expect(await find({ overwrites: 3 }, { isOpen: true })).toMatchObject([{ reason: 'CompetingManagers', message }]);
  expect(await find({ overwrites: 2 }, { isOpen: true })).toEqual([]);
  expect(await find({ overwrites: 3 })).toEqual([]);
});

test('rules decide what counts, how severe it is and after which time', async () => {
  const problems = [problem({}), problem({ key: 'c/dev/web' }), problem({ reason: 'StaleMirror', to: 40_000 })];
  const rules = [
    { reason: 'NoReadyEndpoints', namespaces: ['dev'], severity: 'off' },
    { reason: 'NoReadyEndpoints', severity: 'warning' },
    { reason: 'StaleMirror', afterMs: 40_001 },
  ] as const;
  expect(await find({ problems }, {}, rules)).toMatchObject([{ key: web, severity: 'warning' }]);
  expect(await find({ problems }, { all: true }, rules)).toHaveLength(2);
});

test('a change is late after the time of its namespace', async () => {
  const propagations = [
    late('web-1', 10_000, 16_000),
    { ...late('web-2', 10_000, 39_000), key: 'c/pay/web' },
    { ...late('web-3', 38_000, 60_000), key: 'c/pay/web' },
    { ...late('web-4', 100_000, 131_000), key: 'c/pay/web' },
  ];
  const rules = [{ reason: 'LateChange', namespaces: ['shop'], afterMs: 5_000 }] as const;
  const found = await find({ propagations }, {}, rules);
  expect(found.map(({ key, from }) => [key, from])).toEqual([
    ['c/pay/web', 100_000],
    [web, 10_000],
  ]);
});

test('what is wrong over all clusters is known only at the end, from what continues in each', async () => {
  const given: (readonly ServiceProblem[])[] = [];
  const notServed = problem({ key: '*/shop/web', reason: 'NotServed' });
  const overClusters = async (open: readonly ServiceProblem[]) => {
    given.push(open);
    return [notServed, problem({ key: '*/pay/web', reason: 'SpecDiffers', from: 999_000 })];
  };
  const ended = problem({ key: 'd/shop/web', to: 100_000 });
  const keysOf = async (query: Partial<ProblemQuery>) =>
    (await find({ problems: [problem({}), ended], overClusters }, query)).map(({ key, reason }) => `${key} ${reason}`);
  expect(await keysOf({ isAtEnd: true })).toContain('*/shop/web NotServed');
  expect(given).toEqual([[problem({})]]);
  // A difference of a second is that of a rollout.
  expect(await keysOf({ isOpen: true, keys: '*/%/%' })).toEqual(['*/shop/web NotServed']);
  expect(await keysOf({ isAtEnd: false })).not.toContain('*/shop/web NotServed');
});
