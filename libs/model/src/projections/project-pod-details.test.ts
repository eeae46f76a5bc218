import { expect, test } from 'vitest';
import { projectPodDetails, projectPodReasons } from './project-pod-details.ts';

const none = { owner: '', disruption: '', gracePeriodSeconds: 0, preStop: [], containers: [] };

test('owner, disruption, grace period and hooks', () => {
  const owners = [
    { kind: 'Job', name: 'other' },
    { kind: 'ReplicaSet', name: 'web-5d9', controller: true },
  ];
  const conditions = [
    { type: 'Ready', status: 'True', reason: 'no' },
    { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' },
  ];
  const hook = (preStop: object) => ({ lifecycle: { preStop } });
  const containers = [
    hook({ sleep: { seconds: 5 } }),
    { name: 'plain' },
    hook({ exec: { command: ['sh'] } }),
    hook({ httpGet: {} }),
    hook({ tcpSocket: {} }),
  ];
  const pod = {
    metadata: { ownerReferences: owners },
    spec: { terminationGracePeriodSeconds: 30, containers },
    status: { conditions },
  };
  expect(projectPodDetails(pod)).toEqual({
    ...{ owner: 'ReplicaSet web-5d9', disruption: 'EvictionByEvictionAPI', gracePeriodSeconds: 30, containers: [] },
    preStop: ['sleep 5 s', '', 'exec', 'httpGet', 'tcpSocket'],
  });
});

test.each([
  [{ name: 'app', ready: true, restartCount: 0, state: { running: {} } }, []],
  [
    { name: 'app', ready: true, restartCount: 1, lastState: { terminated: { exitCode: 0 } } },
    ['app: ready, 1 restart, last exit code 0'],
  ],
  [{ name: 'app', ready: false, restartCount: 0, state: { running: {} } }, ['app: running, not ready']],
  [{ name: 'app', state: { waiting: { reason: 'ContainerCreating' } } }, ['app: waiting (ContainerCreating)']],
  [
    { name: 'app', state: { terminated: { exitCode: 137, reason: 'OOMKilled' } } },
    ['app: terminated, exit code 137 (OOMKilled)'],
  ],
  [
    {
      ...{ name: 'app', restartCount: 3, state: { waiting: { reason: 'CrashLoopBackOff' } } },
      lastState: { terminated: { exitCode: 1, reason: 'Error' } },
    },
    ['app: waiting (CrashLoopBackOff), 3 restarts, last exit code 1 (Error)'],
  ],
])('the container %j is described', (status, expected) => {
  expect(projectPodDetails({ status: { containerStatuses: [status] } }).containers).toEqual(expected);
});

test.each([
  [undefined],
  [null],
  ['text'],
  [[]],
  [{ metadata: 1, spec: [], status: null }],
  [{ metadata: { ownerReferences: 'x' }, spec: { terminationGracePeriodSeconds: '30' }, status: { conditions: {} } }],
])('wrong fields of %j are left out', (pod) => {
  expect(projectPodDetails(pod)).toEqual(none);
});

test('what is not text or a number is left out, and long texts are cut', () => {
  const status = { name: 7, restartCount: '3', state: { waiting: { reason: 'x'.repeat(1_000) } }, lastState: 4 };
  const { containers } = projectPodDetails({ status: { containerStatuses: [status, 3, null] } });
  expect(containers).toEqual([`: waiting (${'x'.repeat(200)})`, ': running, not ready', ': running, not ready']);
  const many = Array.from({ length: 1_000 }, () => ({}));
  const long = projectPodDetails({ spec: { containers: many }, status: { containerStatuses: many } });
  expect([long.preStop.length, long.containers.length]).toEqual([20, 20]);
});

test('why the scheduler has found no Node', () => {
  const pending = {
    type: 'PodScheduled',
    status: 'False',
    reason: 'Unschedulable',
    message: '0/3 nodes are available',
  };
  const scheduled = { type: 'PodScheduled', status: 'True' };
  const unscheduledOf = (...conditions: object[]) => projectPodDetails({ status: { conditions } }).unscheduled;
  expect(unscheduledOf(pending)).toBe('Unschedulable: 0/3 nodes are available');
  expect(unscheduledOf({ ...pending, message: undefined })).toBe('Unschedulable');
  expect(unscheduledOf(scheduled)).toBeUndefined();
});

test.each<[explains: boolean, status: unknown]>([
  [false, undefined],
  [false, { containerStatuses: [{ name: 'app', ready: true, restartCount: 0 }] }],
  [false, { conditions: [{ type: 'Ready', status: 'False' }] }],
  [false, { conditions: [{ type: 'PodScheduled', status: 'True' }], containerStatuses: 'wrong' }],
  [true, { containerStatuses: [{ name: 'app', ready: true, restartCount: 1 }] }],
  [true, { containerStatuses: [{ name: 'app', ready: false, restartCount: 0 }] }],
  [true, { conditions: [{ type: 'PodScheduled', status: 'False' }] }],
  [true, { conditions: [{ type: 'DisruptionTarget', status: 'True' }] }],
])('details explain something, %s: %j', (explains, status) => {
  const pod = { status };
  expect(projectPodReasons(pod)).toEqual(explains ? projectPodDetails(pod) : undefined);
});
