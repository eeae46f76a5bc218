import { describe, expect, test } from 'vitest';
import { decodeObject } from './decode-object.ts';

const metadata = { namespace: 'shop', name: 'web-1', resourceVersion: '7', labels: {}, annotations: {} };

function nested(levels: number): unknown {
  return JSON.parse('['.repeat(levels) + ']'.repeat(levels));
}

function decodeSlice(part: object) {
  const reasons: string[] = [];
  const decoded = decodeObject('endpointslices', { metadata, addressType: 'IPv4', endpoints: [], ...part }, (reason) =>
    reasons.push(reason),
  );
  return { decoded, reasons };
}

describe('an object from the API server', () => {
  test('is decoded', () => {
    const { decoded, reasons } = decodeSlice({});
    expect(decoded).toMatchObject({ namespace: 'shop', name: 'web-1', resourceVersion: '7' });
    expect(decoded.object).toBeDefined();
    expect(reasons).toEqual([]);
  });

  test('nested too deep is malformed and keeps its name', () => {
    const { decoded, reasons } = decodeSlice({ endpoints: [{ addresses: [], future: nested(10_000) }] });
    expect(decoded).toEqual({ namespace: 'shop', name: 'web-1', resourceVersion: '7', object: undefined });
    expect(reasons).toEqual(['shop/web-1: nested deeper than 64 levels']);
  });

  test('with too many values is malformed and keeps its name', () => {
    const { decoded, reasons } = decodeSlice({ future: new Array(1_000_001).fill(0) });
    expect(decoded).toMatchObject({ name: 'web-1', object: undefined });
    expect(reasons).toEqual(['shop/web-1: more than 1000000 values']);
  });
});
