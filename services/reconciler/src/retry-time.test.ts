import { noQuirks, type Quirk } from '@sluice/controllers';
import { seededRandom } from '@sluice/runtime';
import { describe, expect, test } from 'vitest';
import { initialState } from './controller-state.ts';
import { retryTime } from './retry-time.ts';
import { defaultSettings } from './settings.ts';

const now = 1_000_000;

function delays(controller: 'endpoints' | 'endpointslice' | 'endpointslicemirroring', reproduce: ReadonlySet<Quirk>) {
  const settings = { ...defaultSettings, reproduce };
  return Array.from({ length: 15 }, (_, failures) => {
    const state = { ...initialState, failures };
    return retryTime(controller, state, 'unavailable', now, settings, seededRandom(1)) - now;
  });
}

describe('as upstream (B3, B4)', () => {
  const b3 = new Set<Quirk>(['B3']);

  test('Endpoints: 5 ms doubled', () => {
    expect(delays('endpoints', b3).slice(0, 3)).toEqual([5, 10, 20]);
    expect(delays('endpoints', b3).at(-1)).toBe(81_920);
  });

  test('slices: 1 s doubled, to 1000 s, mirrored ones to 100 s', () => {
    expect(delays('endpointslice', b3).slice(8)).toEqual([256, 512, 1000, 1000, 1000, 1000, 1000].map((s) => s * 1000));
    expect(delays('endpointslicemirroring', b3).slice(5, 8)).toEqual([32_000, 64_000, 100_000]);
  });

  test('what waits already keeps its earlier time (B2)', () => {
    const state = { ...initialState, failures: 5, delayedUntil: now + 700 };
    const settings = { ...defaultSettings, reproduce: b3 };
    expect(retryTime('endpointslice', state, 'conflict', now, settings, seededRandom(1))).toBe(now + 700);
  });
});

describe('as shipped', () => {
  test('a first conflict is decided anew at once', () => {
    expect(retryTime('endpoints', initialState, 'conflict', now, defaultSettings, seededRandom(1))).toBe(now);
  });

  test('other delays grow, with jitter, up to the most', () => {
    const grown = delays('endpointslice', noQuirks);
    expect(grown[0]).toBeGreaterThanOrEqual(defaultSettings.backoff.baseMs / 2);
    expect(grown[14]).toBeGreaterThanOrEqual(defaultSettings.backoff.maxMs / 2);
    for (const delay of grown) expect(delay).toBeLessThanOrEqual(defaultSettings.backoff.maxMs);
  });
});
