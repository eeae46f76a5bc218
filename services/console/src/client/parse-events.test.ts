import { expect, test } from 'vitest';
import { parseEvents } from './parse-events.ts';

async function read(...chunks: string[]) {
  const encoded = (async function* () {
    for (const chunk of chunks) yield Buffer.from(chunk, 'latin1');
  })();
  const events = [];
  for await (const event of parseEvents(encoded)) events.push(event);
  return events;
}

test('parses events from chunks of any size; skips comments and an incomplete event', async () => {
  const text =
    'retry: 2000\n\nevent: entry\ndata: {"a":1}\n\n: heartbeat\n\ndata: x\ndata: y\n\nevent: entry\ndata: {"b"';
  const expected = [
    { name: 'entry', data: '{"a":1}' },
    { name: 'message', data: 'x\ny' },
  ];
  expect(await read(text)).toEqual(expected);
  expect(await read(...text)).toEqual(expected);
});

test('joins a character that is split between chunks', async () => {
  const utf8 = Buffer.from('data: −\n\n', 'utf8').toString('latin1');
  expect(await read(...utf8)).toEqual([{ name: 'message', data: '−' }]);
});

test('rejects an oversized event', async () => {
  await expect(read(...Array.from({ length: 9 }, () => 'x'.repeat(1024 * 1024)))).rejects.toThrow('too large');
});

test.each([
  ['data:x', 'x'],
  ['data: x', 'x'],
  ['data:  x', ' x'],
  ['data', ''],
  ['data: a: b', 'a: b'],
  [': data: y\ndata: x\nid: 7\n data: z', 'x'],
])('the data of %j is %j', async (block, data) => {
  expect(await read(`${block}\n\n`)).toEqual([{ name: 'message', data }]);
});

test('an event without data is none, and its name is not that of the next', async () => {
  expect(await read('event: entry\n\ndata: x\n\n')).toEqual([{ name: 'message', data: 'x' }]);
});
