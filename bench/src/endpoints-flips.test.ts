import { expect, it } from 'vitest';
import { EndpointsFlips } from './endpoints-flips.ts';
import { endpointsCapacity } from './shape.ts';

const addresses = (names: readonly string[]) => names.map((name) => ({ targetRef: { name } }));

/** A line of the watch. */
function version(ready: readonly string[], notReady: readonly string[], namespace = 'bench-0'): Buffer {
  const metadata = { namespace, name: 'service-0', resourceVersion: '7' };
  const subsets = [{ addresses: addresses(ready), notReadyAddresses: addresses(notReady) }];
  return Buffer.from(JSON.stringify({ type: 'MODIFIED', object: { kind: 'Endpoints', metadata, subsets } }));
}

it('measures in the order of what happened, once it settles', async () => {
  const flips = new EndpointsFlips({ services: 1, pods: 2 });
  flips.sent('a', false);
  flips.answered('a', false, 10);
  flips.version(version([], ['a', 'b']), 14);
  flips.sent('b', true);
  flips.answered('b', true, 20);
  flips.version(version(['b'], ['a'], 'default'), 21);
  flips.version(version(['b'], ['a']), 27);
  flips.sent('a', true);
  flips.answered('a', true, 30);
  expect(flips.results().latencies).toEqual([]);
  await flips.settle();
  expect(flips.results()).toEqual({ latencies: [4, 7], cancelled: 0, missing: 1 });
  flips.version(version(['a', 'b'], []), 42);
  await flips.settle();
  expect(flips.results()).toEqual({ latencies: [4, 7, 12], cancelled: 0, missing: 0 });
});

it('measures in truncated Endpoints only flips that a version must show', async () => {
  const flips = new EndpointsFlips({ services: 1, pods: endpointsCapacity + 1 });
  const flip = (pod: string, ready: boolean, at: number) => {
    flips.sent(pod, ready);
    flips.answered(pod, ready, at);
  };
  flip('a', false, 1);
  flips.version(version(['b', 'c'], []), 5);
  flip('a', true, 10);
  flip('b', false, 11);
  flip('c', false, 12);
  flip('c', true, 13);
  flips.version(version(['a', 'c'], []), 20);
  await flips.settle();
  expect(flips.results()).toEqual({ latencies: [9], cancelled: 1, missing: 0 });
});
