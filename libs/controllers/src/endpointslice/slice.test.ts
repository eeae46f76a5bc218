import { addedSliceLabels, headlessLabel } from '@sluice/model';
import { aPodNamed, aService, aSlice, onNode } from '@sluice/model/testing';
import { afterEach, expect, test } from 'vitest';
import { reconcileEndpointSlices } from './controller.ts';
import { hasSliceLabels, sliceLabels } from './slice.ts';

afterEach(() => {
  Reflect.deleteProperty(addedSliceLabels, 'example.com/network');
});

const labelled = (labels: Readonly<Record<string, string>>) =>
  aSlice('web-1', { metadata: { name: 'web-1', namespace: 'shop', labels } });

test('a label that is added to all slices reaches the slices that exist', () => {
  Object.assign(addedSliceLabels, { 'example.com/network': 'blue' });
  const service = aService();
  const pods = ['a', 'b', 'c'].map((name, i) => onNode(aPodNamed(name, { ip: `10.0.0.${i}`, ips: [`10.0.0.${i}`] })));
  const { 'example.com/network': added, ...before } = sliceLabels(service);
  expect(added).toBe('blue');
  const inputs = { service, pods, triggers: null, topology: null, hints: null, maxEndpointsPerSlice: 2 };
  const created = reconcileEndpointSlices({ ...inputs, slices: [] }).plan.groups.flatMap(({ mutations }) =>
    mutations.flatMap((mutation) =>
      mutation.verb === 'create' && mutation.resource === 'endpointslices' ? [mutation.object] : [],
    ),
  );
  const existing = created.map((slice, i) => {
    const uid = `uid-${i}`;
    return { ...slice, metadata: { ...slice.metadata, name: `web-${i}`, uid, resourceVersion: '1', labels: before } };
  });
  const { groups } = reconcileEndpointSlices({ ...inputs, slices: existing }).plan;
  const updated = groups.flatMap(({ mutations }) => mutations);
  expect(updated).toHaveLength(2);
  for (const mutation of updated)
    expect(mutation).toMatchObject({
      verb: 'update',
      object: { metadata: { labels: { 'example.com/network': 'blue' } } },
    });
});

test('reserved labels are not compared (E26)', () => {
  const service = aService();
  expect(hasSliceLabels(labelled({ ...sliceLabels(service), [headlessLabel]: '' }), service)).toBe(true);
  expect(hasSliceLabels(labelled({ ...sliceLabels(service), team: 'x' }), service)).toBe(false);
});
