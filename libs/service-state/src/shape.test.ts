import { expect, test } from 'vitest';
import { anything, flag, list, nullable, number, object, optional, record, type Shape, text } from './shape.ts';

const point = object({ at: number, name: optional(text) });

test.each<[string, Shape, unknown]>([
  ['a number', number, 0],
  ['a text', text, ''],
  ['a flag', flag, false],
  ['anything', anything, undefined],
  ['null', nullable(text), null],
  ['what is not null', nullable(text), 'a'],
  ['an absent value', optional(text), undefined],
  ['a value that may be absent', optional(text), 'a'],
  ['an object', point, { at: 1, name: 'a' }],
  ['an object without an optional field', point, { at: 1 }],
  ['an object with more fields', point, { at: 1, more: [] }],
  ['a record', record(number), { a: 1, b: 2 }],
  ['an empty record', record(number), {}],
  ['a list', list(number), [1, 2]],
  ['an empty list', list(number), []],
])('%s is right', (_, shape, value) => {
  expect(shape(value)).toBeUndefined();
});

test.each<[string, Shape, unknown, string]>([
  ['a text in place of a number', number, '1', ''],
  ['no finite number', number, Number.NaN, ''],
  ['a number in place of a text', text, 1, ''],
  ['a text in place of a flag', flag, 'true', ''],
  ['null', number, null, ''],
  ['null where a value may be absent', optional(text), null, ''],
  ['an absent value where it may be null', nullable(text), undefined, ''],
  ['a wrong value where it may be null', nullable(text), 1, ''],
  ['a wrong value where it may be absent', optional(text), 1, ''],
  ['a missing field', point, {}, 'at'],
  ['a wrong optional field', point, { at: 1, name: 2 }, 'name'],
  ['the second of two fields', object({ a: number, b: number }), { a: 1, b: 'x' }, 'b'],
  ['a part of a part', object({ in: list(point) }), { in: [{ at: 1 }, { at: 'x' }] }, 'in.1.at'],
  ['a text in place of an object', point, 'at', ''],
  ['null in place of an object', point, null, ''],
  ['a list in place of an object', object({}), [], ''],
  ['a list in place of a record', record(number), [1], ''],
  ['a value of a record', record(number), { a: 1, b: 'x' }, 'b'],
  ['an object in place of a list', list(number), { 0: 1 }, ''],
  ['an item', list(number), [1, 'x'], '1'],
])('%s is wrong', (_, shape, value, path) => {
  expect(shape(value)).toBe(path);
});
