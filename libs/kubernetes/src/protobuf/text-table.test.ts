import { describe, expect, it } from 'vitest';
import { decodeMessage } from './decode-message.ts';
import { internedMessage, many, text, wholeMessage } from './message-type.ts';
import { encoded } from './testing/fixtures.ts';
import { InternTable, TextTable } from './text-table.ts';

const texts = new TextTable();

describe('interned messages', () => {
  const list = wholeMessage({ 1: many('items', internedMessage({ 1: text('name'), 2: text('zone') })) });
  const decode = (bytes: Buffer) =>
    decodeMessage(list, bytes, texts) as { object: { items: object[] }; isPartial: boolean };
  const items = (...items: object[]) => decode(encoded(list, { items })).object.items;

  it('are shared by the versions of an object that contain them', () => {
    const [a, b] = items({ name: 'a', zone: 'x' }, { name: 'b' });
    const next = items({ name: 'b' }, { name: 'a', zone: 'y' }, { name: 'a', zone: 'x' });
    expect(next).toEqual([{ name: 'b' }, { name: 'a', zone: 'y' }, { name: 'a', zone: 'x' }]);
    expect(next[0]).toBe(b);
    expect(next[2]).toBe(a);
  });

  it('are not shared between types', () => {
    const other = wholeMessage({ 1: many('items', internedMessage({ 1: text('ip') })) });
    expect(items({ name: 'c' })).toEqual([{ name: 'c' }]);
    expect(decodeMessage(other, encoded(list, { items: [{ name: 'c' }] }), texts).object).toEqual({
      items: [{ ip: 'c' }],
    });
  });

  it('report fields that their type does not list each time', () => {
    const wider = wholeMessage({ 1: many('items', wholeMessage({ 1: text('name'), 9: text('later') })) });
    const bytes = encoded(wider, { items: [{ name: 'd', later: 'x' }] });
    for (const _ of [1, 2]) expect(decode(bytes)).toEqual({ object: { items: [{ name: 'd' }] }, isPartial: true });
  });

  it('are decoded each time if they are long', () => {
    const long = { name: 'e'.repeat(600) };
    expect(items(long)).toEqual([long]);
    expect(items(long)[0]).not.toBe(items(long)[0]);
  });
});

describe('an intern table', () => {
  it('forgets the messages that were not used for the longest time', () => {
    const table = new InternTable();
    const used = {};
    table.add('used', used);
    table.add('unused', {});
    for (let i = 0; i < 20_000; i++) {
      table.add(`${i}`, {});
      table.get('used');
    }
    expect(table.get('unused')).toBeUndefined();
    expect(table.get('used')).toBe(used);
  });
});
