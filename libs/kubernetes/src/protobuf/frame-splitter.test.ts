import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FrameSplitter } from './frame-splitter.ts';
import { framed } from './testing/fixtures.ts';

const frames = fc.array(fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)));
const cuts = fc.array(fc.nat(60));

function pushed(splitter: FrameSplitter, bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const found: Buffer[] = [];
  let rest = bytes;
  for (const length of lengths) {
    found.push(...splitter.push(rest.subarray(0, length)).map((frame) => Buffer.from(frame)));
    rest = rest.subarray(length);
  }
  return [...found, ...splitter.push(rest)];
}

it('returns the same frames for any chunking', () => {
  fc.assert(
    fc.property(frames, cuts, (given, lengths) => {
      expect(pushed(new FrameSplitter(), Buffer.concat(given.map(framed)), lengths)).toEqual(given);
    }),
  );
});

it('drops and counts frames that are too long and continues after them', () => {
  fc.assert(
    fc.property(frames, cuts, (given, lengths) => {
      const splitter = new FrameSplitter(20);
      const short = given.filter(({ length }) => length <= 20);
      expect(pushed(splitter, Buffer.concat(given.map(framed)), lengths)).toEqual(short);
      expect(splitter.dropped).toBe(given.length - short.length);
    }),
  );
});
