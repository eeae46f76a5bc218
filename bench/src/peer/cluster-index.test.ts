import { projectEndpointSlice, projectEndpoints, projectPod, projectService } from '@sluice/model';
import { expect, it } from 'vitest';
import { ClusterIndex } from './cluster-index.ts';

const service = (namespace: string, name: string, app: string) =>
  projectService({ metadata: { namespace, name }, spec: { selector: { app } } });
const pod = (namespace: string, name: string, app: string, podIP = '10.0.0.1') =>
  projectPod({ metadata: { namespace, name, labels: { app } }, status: { podIP } });
const slice = (resourceVersion: string, uid = 'u') =>
  projectEndpointSlice({
    ...{
      metadata: {
        namespace: 'a',
        name: 'web-1',
        uid,
        resourceVersion,
        labels: { 'kubernetes.io/service-name': 'web' },
      },
    },
    ...{ addressType: 'IPv4', endpoints: [], ports: [] },
  });
const podNames = (index: ClusterIndex, key: string) => [...index.podsOf(key)].map(({ pod }) => pod.name);

it('finds the Pods of a Service, whichever comes first', () => {
  const index = new ClusterIndex();
  expect(index.setPod(pod('a', 'early', 'web'))).toEqual([]);
  expect(index.setService(service('a', 'web', 'web'))).toEqual(['a/web']);
  index.setService(service('b', 'web', 'web'));
  expect(index.setPod(pod('a', 'late', 'web'))).toEqual(['a/web']);
  expect(index.setPod(pod('a', 'other', 'db'))).toEqual([]);
  expect(podNames(index, 'a/web')).toEqual(['early', 'late']);
  expect(podNames(index, 'b/web')).toEqual([]);
  expect(index.deletePod({ namespace: 'a', name: 'early' })).toEqual(['a/web']);
  expect(index.setPod(pod('a', 'late', 'db'))).toEqual(['a/web']);
  expect(podNames(index, 'a/web')).toEqual([]);
  expect(index.deleteService({ namespace: 'b', name: 'web' })).toEqual(['b/web']);
  expect(index.service('b/web')).toBeUndefined();
  index.setService(service('a', 'web', 'db'));
  expect(podNames(index, 'a/web').sort()).toEqual(['late', 'other']);
});

it('affects no Service by a Pod event without a change that matters', () => {
  const index = new ClusterIndex();
  index.setService(service('a', 'web', 'web'));
  expect(index.setPod(pod('a', 'p', 'web'))).toEqual(['a/web']);
  expect(index.setPod(pod('a', 'p', 'web'))).toEqual([]);
  expect(index.setPod(pod('a', 'p', 'web', '10.0.0.2'))).toEqual(['a/web']);
});

it('ignores watch echoes of own writes, and older versions', () => {
  const index = new ClusterIndex();
  expect(index.setSlice(slice('7'))).toEqual(['a/web']);
  expect(index.setSlice(slice('7'))).toEqual([]);
  expect(index.setSlice(slice('6'))).toEqual([]);
  expect(index.setSlice(slice('10'))).toEqual(['a/web']);
  expect(index.setSlice(slice('3', 'another'))).toEqual(['a/web']);
  expect(index.slicesOf('a/web')).toHaveLength(1);
  expect(index.deleteSlice('a/web', 'web-1')).toEqual(['a/web']);
  expect(index.slicesOf('a/web')).toEqual([]);

  const endpoints = projectEndpoints({ metadata: { namespace: 'a', name: 'web', uid: 'u', resourceVersion: '5' } });
  expect(index.setEndpoints(endpoints)).toEqual(['a/web']);
  expect(index.setEndpoints(endpoints)).toEqual([]);
  expect(index.endpointsOf('a/web')).toBe(endpoints);
  expect(index.deleteEndpoints({ namespace: 'a', name: 'web' })).toEqual(['a/web']);
  expect(index.deleteEndpoints({ namespace: 'a', name: 'web' })).toEqual([]);
});
