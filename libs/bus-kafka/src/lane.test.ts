import { expect, test } from 'vitest';
import { Lane } from './lane.ts';

/** Overhead included, a batch holds two such messages. */
const message = (name: string) => ({ key: '', value: Buffer.alloc(100), headers: { name } });
const lane = () => new Lane('t', 0, 350);

function add(to: Lane, ...names: string[]): Promise<string> {
  return new Promise((resolve) => {
    to.add({
      messages: names.map(message),
      batches: 0,
      resolve: () => resolve('kept'),
      reject: ({ message }) => resolve(message),
    });
  });
}

const names = (of: Lane) => of.batch()?.messages.map(({ headers }) => headers.name);

test('what several callers append goes together, in order, as far as it fits', async () => {
  const to = lane();
  const first = add(to, 'a1');
  const second = add(to, 'b1', 'b2', 'b3');
  expect(names(to)).toEqual(['a1', 'b1']);
  to.acknowledged();
  expect(await first).toBe('kept');
  expect(names(to)).toEqual(['b2', 'b3']);
  to.acknowledged();
  expect(await second).toBe('kept');
  expect(to.idle).toBe(true);
});

test('a batch stays as it is until it is acknowledged', () => {
  const to = lane();
  void add(to, 'a1');
  expect(names(to)).toEqual(['a1']);
  void add(to, 'b1');
  expect(names(to)).toEqual(['a1']);
  to.acknowledged();
  expect(names(to)).toEqual(['b1']);
});

test('of a call whose batch is refused nothing more is sent; others go on', async () => {
  const to = lane();
  const refused = add(to, 'a1', 'a2', 'a3');
  const other = add(to, 'b1');
  expect(names(to)).toEqual(['a1', 'a2']);
  to.refused(new Error('no'));
  expect(await refused).toBe('no');
  expect(names(to)).toEqual(['b1']);
  to.acknowledged();
  expect(await other).toBe('kept');
});

test('closing rejects what is under way and what waits', async () => {
  const to = lane();
  const all = [add(to, 'a1', 'a2', 'a3'), add(to, 'b1')];
  to.batch();
  to.close(new Error('closed'));
  expect(await Promise.all(all)).toEqual(['closed', 'closed']);
  expect(to.idle).toBe(true);
});
