import { expect, test } from 'vitest';
import type { RawObject } from './cluster.ts';
import { MalformedListError } from './list-splitter.ts';
import { readList } from './read-list.ts';
import type { SkippedObject } from './watch-line.ts';

const pod = (name: string) => ({ metadata: { namespace: 'ns', name, resourceVersion: '1' } });

async function* chunked(text: string): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.length; at += 10) yield Buffer.from(text.slice(at, at + 10));
}

async function read(text: string) {
  const items: RawObject[] = [];
  const skipped: SkippedObject[] = [];
  const receiver = {
    onItem: (item: RawObject) => void items.push(item),
    onSkipped: (s: SkippedObject) => void skipped.push(s),
  };
  return { ...(await readList('pods', chunked(text), receiver)), items, skipped };
}

test('hands over items one by one and returns what the list says of itself, whatever comes first', async () => {
  const metadata = { resourceVersion: '9', continue: 'next' };
  const list = { items: [pod('a'), pod('b')], kind: 'PodList', metadata };
  expect(await read(JSON.stringify(list))).toEqual({
    resourceVersion: '9',
    continueToken: 'next',
    items: list.items,
    skipped: [],
  });
});

test('leaves out what is malformed, names it and goes on', async () => {
  const nameless = '{"metadata":{"namespace":"ns"}}';
  const broken = '{"metadata":{"name":"q"},}';
  const unversioned = '{"metadata":{"namespace":"ns","name":"u"}}';
  const text = `{"metadata":{"resourceVersion":"9"},"items":[7,null,${nameless},${broken},${unversioned},${JSON.stringify(pod('a'))}]}`;
  const { items, skipped } = await read(text);
  expect(items).toEqual([pod('a')]);
  expect(skipped.map(({ name, why }) => `${name}: ${why}`)).toEqual([
    ': it is not an object',
    ': it is not an object',
    ': it has no name',
    ': it is not JSON',
    'u: it has no resourceVersion',
  ]);
});

test.each([
  ['{"items":[]}', 'it has no resourceVersion'],
  ['{"metadata":{"resourceVersion":"9"}}', 'it has no array of items'],
  ['{"metadata":{"resourceVersion":"9"},"items":{}}', 'it has no array of items'],
  ['{"metadata":{,},"items":[]}', 'it is not JSON'],
  ['{"metadata":{"resourceVersion":"9"},"items":[{}', 'it ended early'],
])('refuses %s', async (text, why) => {
  await expect(read(text)).rejects.toThrow(new MalformedListError(why));
});
