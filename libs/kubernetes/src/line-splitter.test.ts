import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from './line-splitter.ts';

describe('LineSplitter', () => {
  it('finds the same lines however the bytes are cut, also within characters', () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1 }).map((text) => `x${text.replaceAll('\n', '')}`);
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat()), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
        const splitter = new LineSplitter();
        const found = ends.flatMap((end, index) => splitter.push(bytes.subarray(ends[index - 1] ?? 0, end)));
        expect(found).toEqual(lines);
      }),
    );
  });

  it('keeps back a line without an end, and leaves out empty ones', () => {
    const splitter = new LineSplitter();
    expect(splitter.push(Buffer.from('\n\r\na\n\nb'))).toEqual(['a']);
    expect(splitter.push(Buffer.from('c\n'))).toEqual(['bc']);
  });

  it('drops a line that is too long and continues with the next', () => {
    const splitter = new LineSplitter(4);
    expect(splitter.push(Buffer.from('a\n123'))).toEqual(['a']);
    expect(splitter.push(Buffer.from('456'))).toEqual([]);
    expect(splitter.push(Buffer.from('789'))).toEqual([]);
    expect(splitter.push(Buffer.from('0\nb\nc'))).toEqual(['b']);
    expect(splitter.push(Buffer.from('\n'))).toEqual(['c']);
    expect(splitter.dropped).toBe(1);
  });

  it('keeps a line of the maximum length, and counts each longer one', () => {
    const splitter = new LineSplitter(4);
    expect(splitter.push(Buffer.from('1234'))).toEqual([]);
    expect(splitter.push(Buffer.from('\n'))).toEqual(['1234']);
    expect(splitter.push(Buffer.from('12'))).toEqual([]);
    expect(splitter.push(Buffer.from('345'))).toEqual([]);
    expect(splitter.push(Buffer.from('\n12345'))).toEqual([]);
    expect(splitter.push(Buffer.from('\na\n'))).toEqual(['a']);
    expect(splitter.dropped).toBe(2);
  });
});
