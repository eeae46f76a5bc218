import { type Random, randomInteger } from '@sluice/platform';

/** Bytes at the limits of protobuf's numbers and lengths, and those with a meaning in JSON. */
const interesting = Buffer.from([0x00, 0x01, 0x7f, 0x80, 0xff, 0x0a, 0x12, 0x1a, ...Buffer.from('[]{}",:\\\n0-')]);

/** Texts that replace a JSON value or a name. */
const texts = ['null', 'true', '-1', '1e400', '""', '[]', '{}', '"__proto__"', '"constructor"', '"\\ud800"'];

/** Returns a copy of an input with one to eight random changes. `others` are spliced in. */
export function mutate(input: Buffer, others: readonly Buffer[], random: Random): Buffer {
  let bytes = Buffer.from(input);
  for (let changes = randomInteger(random, 1, 8); changes > 0; changes--) bytes = mutateOnce(bytes, others, random);
  return bytes;
}

function mutateOnce(bytes: Buffer, others: readonly Buffer[], random: Random): Buffer<ArrayBuffer> {
  const at = randomInteger(random, 0, bytes.length);
  const end = Math.min(bytes.length, at + randomInteger(random, 1, 32));
  switch (randomInteger(random, 0, 7)) {
    case 0:
      return replace(bytes, at, at + 1, Buffer.from([(bytes[at] ?? 0) ^ (1 << randomInteger(random, 0, 7))]));
    case 1:
      return replace(bytes, at, at + 1, Buffer.from([pick(interesting, random)]));
    case 2:
      return replace(bytes, at, end, Buffer.alloc(0));
    case 3:
      return replace(bytes, at, at, repeat(bytes.subarray(at, end), random));
    case 4:
      return replace(bytes, at, at, Buffer.from(Array.from({ length: end - at }, () => randomInteger(random, 0, 255))));
    case 5: {
      const other = pick(others, random);
      return replace(bytes, at, end, other.subarray(randomInteger(random, 0, other.length)));
    }
    case 6:
      return replaceToken(bytes, at, Buffer.from(pick(texts, random)));
    default: {
      const levels = 10 ** randomInteger(random, 1, 5);
      return replaceToken(bytes, at, Buffer.from('['.repeat(levels) + ']'.repeat(levels)));
    }
  }
}

/** Replaces the first JSON string or number after `at`. */
function replaceToken(bytes: Buffer, at: number, by: Buffer): Buffer<ArrayBuffer> {
  const found = /"[^"]{0,64}"|\b[0-9]{1,16}\b/.exec(bytes.toString('latin1', at, at + 512));
  if (found === null) return replace(bytes, at, at, by);
  const start = at + found.index;
  return replace(bytes, start, start + found[0].length, by);
}

function repeat(bytes: Buffer, random: Random): Buffer {
  const times = 10 ** randomInteger(random, 0, 4);
  return Buffer.concat(Array.from({ length: times }, () => bytes));
}

function replace(bytes: Buffer, from: number, to: number, by: Buffer): Buffer<ArrayBuffer> {
  return Buffer.concat([bytes.subarray(0, from), by, bytes.subarray(to)]);
}

function pick<T>(list: ArrayLike<T>, random: Random): T {
  return list[randomInteger(random, 0, list.length - 1)] as T;
}
