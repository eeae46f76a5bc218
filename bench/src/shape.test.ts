import { expect, it } from 'vitest';
import {
  benchPods,
  benchServices,
  isBenchNamespace,
  namespaceNames,
  podObject,
  serviceObjects,
  shapeTitle,
} from './shape.ts';

it('spreads Services over 50 namespaces by default, and Pods with them', () => {
  const shape = { services: 120, pods: 2 };
  expect(namespaceNames(shape)).toHaveLength(50);
  const services = Map.groupBy(benchServices(shape), ({ namespace }) => namespace);
  expect([...services.values()].map(({ length }) => length).sort()).toEqual([
    ...Array.from({ length: 30 }, () => 2),
    ...Array.from({ length: 20 }, () => 3),
  ]);
  expect(new Set(benchServices(shape).map(({ name }) => name)).size).toBe(120);
  const [, , , pod] = benchPods(shape);
  expect(pod).toMatchObject({ namespace: 'bench-1', name: 'service-1-1', service: 'service-1' });
  if (pod === undefined) throw new Error('no Pod');
  expect(podObject(pod, true, '')).toMatchObject({ metadata: { namespace: 'bench-1' } });
  expect(serviceObjects(shape)[51]).toMatchObject({ metadata: { namespace: 'bench-1', name: 'service-51' } });
  expect(isBenchNamespace('bench-49')).toBe(true);
  expect(isBenchNamespace('default')).toBe(false);
});

it('has no empty namespaces', () => {
  expect(namespaceNames({ services: 3, pods: 1 })).toEqual(['bench-0', 'bench-1', 'bench-2']);
});

it('says how Services are spread', () => {
  expect(shapeTitle({ services: 100, pods: 20 })).toBe('100 Services × 20 Pods, 50 namespaces');
  expect(shapeTitle({ services: 100, pods: 20, namespaces: 1 })).toBe('100 Services × 20 Pods, one namespace');
  expect(shapeTitle({ services: 1, pods: 20 })).toBe('1 Service × 20 Pods');
});
