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

test('what is kept of each resource can be read', () => {
  const budget = new ListBudget(1024 * 1024);
  expect([...budget.bytes]).toEqual([]);
  const list = budget.begin('pods');
  list.add('x'.repeat(100));
  list.add('x'.repeat(100));
  const [, bytes = 0] = [...budget.bytes][0] ?? [];
  expect(bytes).toBeGreaterThanOrEqual(200);
  budget.update('pods', 'x'.repeat(100), undefined);
  budget.update('services', undefined, 'y');
  expect(budget.bytes.get('pods')).toBeLessThan(bytes);
  expect([...budget.bytes.keys()]).toEqual(['pods', 'services']);
  budget.begin('pods');
  expect([...budget.bytes.keys()]).toEqual(['services']);
});

test('an event adds what its object adds to a list in place of nothing, and a deletion removes it', () => {
  const object = { ...pod('p'), nothing: null, nested: [{ a: 1 }, ['b']] };
  const listed = new ListBudget(1024 * 1024);
  listed.begin('pods').add(object);
  listed.begin('services').add(undefined);
  const added = (listed.bytes.get('pods') ?? 0) - (listed.bytes.get('services') ?? 0);
  const watched = new ListBudget(1024 * 1024);
  watched.update('pods', undefined, object);
  expect(watched.bytes.get('pods')).toBe(added);
  // Another object with the same parts, whose sizes are remembered.
  watched.update('pods', object, { ...object });
  expect(watched.bytes.get('pods')).toBe(added);
  watched.update('pods', { ...object }, undefined);
  expect(watched.bytes.get('pods')).toBe(0);
});

test('the memory may be used up exactly, and an event that frees memory always passes', () => {
  const budget = new ListBudget(1_024 + 24);
  budget.begin('pods').add('x'.repeat(1_024));
  budget.update('pods', 'x', 'y');
  expect(() => budget.update('pods', 'x', 'xy')).toThrow('too much');
  budget.update('pods', 'xy', 'x');
  budget.update('pods', 'x', 'xy');
  const full = new ListBudget(1_024 + 24).begin('pods');
  full.add('x'.repeat(1_024));
  expect(() => full.add('')).toThrow('too large');
});
