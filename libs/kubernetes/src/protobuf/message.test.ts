import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeMessage } from './decode-message.ts';
import { encodeMessage } from './encode-message.ts';
import {
  boolean,
  integer,
  intOrString,
  keptInteger,
  keptText,
  many,
  projectionOf,
  quantityMap,
  stringMap as stringMapField,
  text,
  wholeMessage,
} from './message-type.ts';
import { encoded } from './testing/fixtures.ts';
import { TextTable } from './text-table.ts';
import { watchedTypes, writtenTypes } from './types.ts';
import { MalformedProtobufError } from './wire-reader.ts';
import { WireWriter } from './wire-writer.ts';

const anyText = fc.string({ unit: 'grapheme', maxLength: 90 });
const nonEmpty = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 90 });
const some = <T>(values: fc.Arbitrary<T>) => fc.array(values, { minLength: 1, maxLength: 4 });
const key = fc.oneof(fc.constant('__proto__'), nonEmpty);
const stringMap = fc.dictionary(key, anyText, { minKeys: 1, noNullPrototype: true });
const objectOf = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(fields, { requiredKeys: [] });
const metadata = objectOf({
  name: nonEmpty,
  uid: nonEmpty,
  generation: fc.integer({ min: 1, max: 2 ** 50 }),
  creationTimestamp: fc
    .integer({ min: 1, max: 4_000_000_000 })
    .map((seconds) => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`),
  labels: stringMap,
  ownerReferences: some(objectOf({ kind: nonEmpty, controller: fc.boolean() })),
  finalizers: some(anyText),
});
const slices = fc.record({
  metadata,
  addressType: anyText,
  endpoints: fc.option(
    some(
      objectOf({
        addresses: some(anyText),
        conditions: objectOf({ ready: fc.boolean(), serving: fc.boolean(), terminating: fc.boolean() }),
        zone: anyText,
        hints: objectOf({ forZones: some(fc.record({ name: anyText })) }),
        deprecatedTopology: stringMap,
      }),
    ),
  ),
  ports: fc.option(some(objectOf({ name: anyText, port: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }) }))),
});

describe('a message', () => {
  it('decodes to the object that was encoded', () => {
    const texts = new TextTable();
    fc.assert(
      fc.property(slices, (slice) => {
        const bytes = encoded(writtenTypes.endpointslices, slice);
        const read = decodeMessage(watchedTypes.endpointslices, bytes, texts);
        expect(read).toEqual({ object: slice, isPartial: false });
      }),
    );
  });

  it('that is truncated or corrupted decodes or throws MalformedProtobufError', () => {
    const texts = new TextTable();
    fc.assert(
      fc.property(slices, fc.nat(), fc.uint8Array({ maxLength: 12 }), (slice, at, noise) => {
        const bytes = encoded(writtenTypes.endpointslices, slice);
        const start = at % (bytes.length + 1);
        for (const given of [bytes.subarray(0, start), Buffer.concat([bytes.subarray(0, start), noise])]) {
          try {
            decodeMessage(watchedTypes.endpointslices, given, texts);
          } catch (error) {
            expect(error).toBeInstanceOf(MalformedProtobufError);
          }
        }
      }),
    );
  });

  it('holds __proto__ as a key, also twice', () => {
    const proto = (value: string) => [0x0a, 14, 0x0a, 9, ...Buffer.from('__proto__'), 0x12, 1, ...Buffer.from(value)];
    const type = projectionOf({ 1: stringMapField('labels') });
    const { labels } = decodeMessage(type, Buffer.from([...proto('a'), ...proto('b')]), new TextTable()).object;
    expect(Object.entries(labels as object)).toEqual([['__proto__', 'b']]);
  });

  it('is rejected beyond a million values, before they fill the memory', () => {
    const type = projectionOf({ 1: many('containers', projectionOf({})) });
    const empty = (count: number) => Buffer.alloc(2 * count).fill(Buffer.from([0x0a, 0]));
    expect(decodeMessage(type, empty(1_000), new TextTable()).object.containers).toHaveLength(1_000);
    expect(() => decodeMessage(type, empty(1_000_001), new TextTable())).toThrow(MalformedProtobufError);
  });

  it('omits zero values where JSON does', () => {
    const type = wholeMessage({
      1: text('a'),
      2: keptText('b'),
      3: integer('c'),
      4: keptInteger('d'),
      5: boolean('e'),
    });
    const bytes = encoded(type, { a: '', b: '', c: 0, d: 0, e: false });
    expect(decodeMessage(type, bytes, new TextTable()).object).toEqual({ b: '', d: 0 });
  });

  it('skips unlisted fields and reports them for types with all fields listed', () => {
    const bytes = encoded(writtenTypes.endpoints, { metadata: { name: 'a' }, subsets: [{ ports: [{ port: 1 }] }] });
    expect(decodeMessage(projectionOf({}), bytes, new TextTable())).toEqual({ object: {}, isPartial: false });
    expect(decodeMessage(wholeMessage({}), bytes, new TextTable())).toEqual({ object: {}, isPartial: true });
  });

  it('decodes IntOrString and quantities as in JSON', () => {
    const number = (value: number) => Buffer.from([0x0a, 4, 0x08, 0, 0x10, value]);
    const target = projectionOf({ 1: intOrString('target') });
    const read = (bytes: Buffer) => decodeMessage(target, bytes, new TextTable()).object.target;
    expect(read(number(80))).toBe(80);
    expect(read(Buffer.from([0x0a, 8, 0x08, 1, 0x10, 0, 0x1a, 2, 0x61, 0x62]))).toBe('ab');
    const cpu = Buffer.from([0x0a, 9, 0x0a, 3, ...Buffer.from('cpu'), 0x12, 2, 0x0a, 0]);
    expect(decodeMessage(projectionOf({ 1: quantityMap('all') }), cpu, new TextTable()).object).toEqual({
      all: { cpu: '0' },
    });
  });
});

describe('an object that the message type cannot hold', () => {
  it.each([
    ['an unknown field', { addressType: 'IPv4', later: 1 }],
    ['an unknown nested field', { endpoints: [{ addresses: [], later: true }] }],
    ['a number instead of a string', { addressType: 4 }],
    ['an object instead of a list', { endpoints: {} }],
    ['an invalid time', { metadata: { creationTimestamp: 'yesterday' } }],
  ])('is not encoded: %s', (_, object) => {
    expect(encodeMessage(writtenTypes.endpointslices, object, new WireWriter())).toBe(false);
  });
});
