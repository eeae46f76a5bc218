import { FakeApiServer, FakeClient, type FaultError, FaultPlan } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { expect, test } from 'vitest';
import { assertUsable } from './assert-usable.ts';

const clock = new VirtualClock(1_000);
const server = new FakeApiServer({ clock, random: seededRandom(1) });
const { signal } = new AbortController();

const clusterThat = (error?: FaultError, identity = server.identity) => {
  const faults = new FaultPlan(error === undefined ? [] : [{ error }]);
  return { identity, reader: new FakeClient(server, { clock, faults }) };
};

test.each([undefined, 'tooManyRequests'] as const)('a cluster is usable that answers (%s)', async (error) => {
  await expect(assertUsable(clusterThat(error), signal)).resolves.toBeUndefined();
});

test.each(['reset', 'unavailable', 'internal', 'forbidden', 'plainNotFound'] as const)(
  'a cluster is not usable that fails with %s, which other members may not see',
  async (error) => {
    await expect(assertUsable(clusterThat(error), signal)).rejects.toThrow();
  },
);

test('a cluster is not usable at whose address another one answers', async () => {
  await expect(assertUsable(clusterThat(undefined, 'another'), signal)).rejects.toThrow('another cluster answers');
});
