import { expect, test } from 'vitest';
import type { RawObject } from './cluster.ts';
import { MalformedListError } from './list-splitter.ts';
import { readList } from './read-list.ts';

const pod = (name: string) => ({ metadata: { namespace: 'ns', name, resourceVersion: '1' } });

async function* chunked(text: string): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.length; at += 10) yield Buffer.from(text.slice(at, at + 10));
}

async function read(text: string) {
  const items: RawObject[] = [];
  return { ...(await readList(chunked(text), 'Pod', (item) => void items.push(item))), items };
}

test('passes on items one by one and returns the list metadata, in whatever order they arrive', async () => {
  const metadata = { resourceVersion: '9', continue: 'next' };
  const list = { items: [pod('a'), pod('b')], kind: 'PodList', metadata };
  expect(await read(JSON.stringify(list))).toEqual({
    resourceVersion: '9',
    continueToken: 'next',
    items: list.items,
  });
});

test('passes on a malformed item that has a name', async () => {
  const unversioned = { metadata: { namespace: 'ns', name: 'u' } };
  const list = { metadata: { resourceVersion: '9' }, items: [unversioned, pod('a')] };
  expect((await read(JSON.stringify(list))).items).toEqual(list.items);
});

test.each(['7', 'null', '{"metadata":{"namespace":"ns"}}', '{"metadata":{"name":"q"},}'])(
  'rejects a list with the unidentifiable item %s',
  async (item) => {
    const text = `{"metadata":{"resourceVersion":"9"},"items":[${item},${JSON.stringify(pod('a'))}]}`;
    await expect(read(text)).rejects.toThrow(new MalformedListError('an item has no name'));
  },
);

test.each([
  ['{"kind":"NodeList","metadata":{"resourceVersion":"9"},"items":[]}', 'it is a list of another kind'],
  ['{"kind":"Status","metadata":{"resourceVersion":"9"},"items":[]}', 'it is a list of another kind'],
  ['{"items":[]}', 'the list has no resourceVersion'],
  ['{"metadata":{"resourceVersion":"9"}}', 'the list has no array of items'],
  ['{"metadata":{"resourceVersion":"9"},"items":{}}', 'the list has no array of items'],
  ['{"metadata":{,},"items":[]}', 'the response is not JSON'],
  ['{"metadata":{"resourceVersion":"9"},"items":[{}', 'the response ended early'],
])('rejects %s', async (text, why) => {
  await expect(read(text)).rejects.toThrow(new MalformedListError(why));
});
