import { randomInteger, seededRandom } from '@sluice/platform';
import { describe, expect, test } from 'vitest';
import { ListSplitter, MalformedListError } from './list-splitter.ts';

/** What the text is taken apart into, if it comes in chunks that end at the given places. */
function split(text: string, cuts: readonly number[] = []) {
  const items: unknown[] = [];
  const members: Record<string, unknown> = {};
  const splitter = new ListSplitter({
    onItem: (item) => void items.push(JSON.parse(item)),
    onMember: (member) => void Object.assign(members, JSON.parse(`{${member}}`)),
  });
  const bytes = Buffer.from(text);
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    splitter.push(bytes.subarray(from, to));
    from = to;
  }
  splitter.end();
  return { items, members };
}

const awkward = {
  kind: 'PodList',
  metadata: { resourceVersion: '7', continue: 'a,b]}"', items: ['not these'] },
  items: [
    { metadata: { name: 'a', labels: { quote: '"', slash: '\\', both: '\\"', brackets: '}]{[' } }, items: [1, [2]] },
    { metadata: { name: 'ü–😀' }, empty: {}, none: [], nothing: null },
    null,
  ],
  after: [{ items: [3] }],
};

describe('ListSplitter', () => {
  test.each([undefined, 2])('finds items and members, with white space of %s', (space) => {
    const { items, ...members } = awkward;
    expect(split(JSON.stringify(awkward, null, space))).toEqual({ items, members });
  });

  test('wherever its chunks end', () => {
    const text = JSON.stringify(awkward);
    const whole = split(text);
    const { length } = Buffer.from(text);
    for (let at = 1; at < length; at++) expect(split(text, [at]), `cut at ${at}`).toEqual(whole);
    const each = Array.from({ length: length - 1 }, (_, i) => i + 1);
    expect(split(text, each)).toEqual(whole);
    const random = seededRandom(1);
    for (let run = 0; run < 200; run++) {
      const cuts = [0, 0, 0, 0].map(() => randomInteger(random, 0, length)).sort((a, b) => a - b);
      expect(split(text, cuts), cuts.join()).toEqual(whole);
    }
  });

  test.each([
    ['{"items":[],"kind":"PodList"}', []],
    ['{"items":null}', []],
    ['{}', []],
    ['{"items": [ {} ] }\n', [{}]],
  ])('%s', (text, items) => {
    expect(split(text).items).toEqual(items);
  });

  test.each([
    ['<html>{}</html>', 'the response is not an object'],
    ['[{"items":[]}]', 'the response is not an object'],
    ['"text"', 'the response is not an object'],
    ['{} {}', 'the response is not an object'],
    ['{"items":[{}', 'the response ended early'],
    ['', 'the response ended early'],
  ])('refuses %s', (text, why) => {
    expect(() => split(text)).toThrow(new MalformedListError(why));
  });

  test('does not fill the memory with an item that never ends', () => {
    const splitter = new ListSplitter({ onItem() {}, onMember() {}, maxBytes: 1_000 });
    splitter.push(Buffer.from('{"items":[{"a":"'));
    const more = Buffer.alloc(600, 'x');
    splitter.push(more);
    expect(() => splitter.push(more)).toThrow('larger than 1000 bytes');
  });

  test('an item may be as long as the limit, wherever its chunks end, and others do not count with it', () => {
    const items: string[] = [];
    const splitter = new ListSplitter({ onItem: (item) => void items.push(item), onMember() {}, maxBytes: 10 });
    const item = `"${'x'.repeat(8)}"`;
    splitter.push(Buffer.from(`{"items":[${item},`));
    for (let n = 0; n < 5; n++) {
      splitter.push(Buffer.from(item));
      splitter.push(Buffer.from(','));
    }
    expect(items).toEqual(Array(6).fill(item));
    splitter.push(Buffer.from(item));
    expect(() => splitter.push(Buffer.from(' '))).toThrow('larger than 10 bytes');
  });

  test('an array of another member is none of items, however it is called', () => {
    expect(split('{"other items":[1],"items" : [2],"x":{"items":[3]}}')).toEqual({
      ...{ items: [2], members: { 'other items': [1], x: { items: [3] } } },
    });
    expect(split(`{"${'x'.repeat(300)}items":[1]}`).items).toEqual([]);
  });

  test('knows whether there was an array of items', () => {
    const splitter = new ListSplitter({ onItem() {}, onMember() {} });
    splitter.push(Buffer.from('{"kind":"List",'));
    expect(splitter.hasItems).toBe(false);
    splitter.push(Buffer.from('"items":['));
    expect(splitter.hasItems).toBe(true);
  });

  test('white space around the list is nothing', () => {
    expect(split(' \n{"items":[1]} \n', [1, 2])).toEqual({ items: [1], members: {} });
  });

  test('a chunk may end within an escape', () => {
    const list = { items: [{ name: 'a "quoted" \\ name' }, { name: '\\"' }] };
    const text = JSON.stringify(list);
    const cuts = [...text.matchAll(/\\/g)].map(({ index }) => index + 1);
    expect(split(text, cuts).items).toEqual(list.items);
    for (const cut of cuts) expect(split(text, [cut]).items).toEqual(list.items);
  });

  test('text before the list is refused as soon as it arrives', () => {
    const splitter = new ListSplitter({ onItem() {}, onMember() {} });
    expect(() => splitter.push(Buffer.from('text'))).toThrow(new MalformedListError('the response is not an object'));
  });
});
