import { describe, expect, it } from 'vitest';
import { packageOf, summarizeProfile } from './profile.ts';

const node = (id: number, functionName: string, url = '', children: readonly number[] = []) => ({
  id,
  callFrame: { functionName, url, lineNumber: 9 },
  children,
});

const LIBS = 'file:///repo/libs/bus/src/memory-bus.ts';
const profile = {
  nodes: [
    node(1, '(root)', '', [2, 5]),
    node(2, 'publish', LIBS, [3, 4]),
    node(3, 'publish', LIBS),
    node(4, '(garbage collector)'),
    node(5, '(idle)'),
  ],
  startTime: 0,
  samples: [2, 3, 4, 5, 3],
  timeDeltas: [1000, 2000, 4000, 8000, 16_000],
};

describe('profile summary', () => {
  it('sums self time by package and function, without idle time', () => {
    const summary = summarizeProfile(profile, { from: 0, to: 10 });
    expect(summary.milliseconds).toBe(31);
    expect(summary.idleMilliseconds).toBe(8);
    expect(summary.selfByPackage).toEqual([
      { name: 'libs/bus', milliseconds: 19 },
      { name: '(garbage collector)', milliseconds: 4 },
    ]);
    expect(summary.selfByFunction[0]).toEqual({ name: 'publish libs/bus memory-bus.ts:10', milliseconds: 19 });
  });

  it('counts a recursive function once in the total time', () => {
    const summary = summarizeProfile(profile, { from: 0, to: 10 });
    expect(summary.totalByFunction).toEqual([
      { name: 'publish libs/bus memory-bus.ts:10', milliseconds: 23 },
      { name: '(garbage collector)', milliseconds: 4 },
    ]);
  });

  it('is limited to a window', () => {
    expect(summarizeProfile(profile, { from: 0.01, to: 1 }).milliseconds).toBe(24);
  });

  it('shortens package names', () => {
    const names = [
      'file:///r/node_modules/.pnpm/undici@7.1.0/node_modules/undici/lib/core.js',
      'file:///r/node_modules/.pnpm/a@1/node_modules/@scope/name/x.js',
      'file:///r/services/writer/src/run-writer.ts',
      'node:internal/streams/readable',
      'node:events',
    ].map((url) => packageOf(node(1, 'f', url)));
    expect(names).toEqual(['undici', '@scope/name', 'services/writer', 'node:internal/streams', 'node:events']);
    expect(packageOf(node(1, '(program)'))).toBe('(program)');
    expect(packageOf(node(1, 'writev'))).toBe('(native)');
  });
});
