import { expect, test } from 'vitest';
import { isApiError } from './api-error.ts';
import { ListBudget, type ListCount } from './list-budget.ts';

const pod = (name: string) => ({ name, uid: 'u'.repeat(36), labels: { app: 'web' }, ips: ['10.1.0.1'], ready: true });

function addUntilFailure(count: ListCount, object: unknown = pod('p')): number {
  for (let added = 0; ; added++) {
    try {
      count.add(object);
    } catch (error) {
      expect(isApiError(error)).toBe(true);
      expect(error).toMatchObject({ kind: 'terminal', reason: 'ListTooLarge' });
      expect(String(error)).toContain('the list of pods is too large: ');
      return added;
    }
  }
}

test('a list ends when what is kept of it needs too much memory, whatever the size of its objects', () => {
  const added = (object: unknown) => addUntilFailure(new ListBudget(1024 * 1024).begin('pods'), object);
  expect(added('x'.repeat(1000))).toBe(1024);
  // 1 MiB is enough for thousands of small Pods, and for a few large ones.
  expect(added(pod('p'))).toBeGreaterThan(2_000);
  expect(added({ ...pod('p'), labels: { app: 'x'.repeat(500_000) } })).toBe(2);
});

test('objects of which nothing is kept are counted', () => {
  expect(addUntilFailure(new ListBudget(1024 ** 3).begin('pods'), undefined)).toBe(2_000_000);
});

test('pages without objects are counted', () => {
  const count = new ListBudget(1024).begin('pods');
  const turn = () => {
    for (let i = 0; i < 100_000; i++) count.addPage();
  };
  expect(turn).toThrow('the list of pods is too large: it has more than 20000 pages');
});

test('the lists of a cluster share the memory, and a list replaces the previous one of its resource', () => {
  const budget = new ListBudget(1024 * 1024);
  const half = 'x'.repeat(600_000);
  budget.begin('services').add(half);
  budget.begin('services').add(half);
  expect(addUntilFailure(budget.begin('pods'), half)).toBe(0);
});

test('events of a watch are counted by what they add to or remove from the list', () => {
  const budget = new ListBudget(1024 * 1024);
  const half = 'x'.repeat(500_000);
  budget.begin('services').add(half);
  budget.update('pods', undefined, half);
  const add = () => budget.update('pods', undefined, half);
  expect(add).toThrow('the watch of pods sends too much: the objects of this cluster need more than 1 MiB of memory');
  // Replaced a thousand times by an object of the same size, and then deleted.
  for (let n = 0; n < 1000; n++) budget.update('pods', half, half);
  budget.update('services', half, undefined);
  expect(add).not.toThrow();
  expect(add).toThrow('too much');
  budget.begin('pods');
  expect(add).not.toThrow();
});
