import { expect, test } from 'vitest';
import { introductionOf } from './one-cluster.ts';

const cluster = { name: 'prod', version: 'v1.37.1', server: 'https://prod' };
const leadership = { started: Promise.resolve(), ended: Promise.resolve() };

test('a process manages the endpoints, except while it stands by', () => {
  const managing = 'Sluice manages Endpoints and EndpointSlices of prod (Kubernetes v1.37.1) at https://prod';
  expect(introductionOf(cluster)).toBe(managing);
  expect(introductionOf({ ...cluster, leadership: { ...leadership, isLeader: true } })).toBe(managing);
  expect(introductionOf({ ...cluster, leadership: { ...leadership, isLeader: false } })).toMatch(
    /^Sluice stands by for prod .* while it leads$/,
  );
});
