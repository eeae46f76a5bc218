import { stripVTControlCharacters } from 'node:util';
import { VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { type ClusterPhase, recordOutcome, Statistics } from './display.ts';
import { LiveDisplay } from './live-display.ts';
import { anApplied, type GivenApplied } from './testing/applied.ts';

let clock: VirtualClock;
let statistics: Statistics;
let stopping: AbortController;
let written: string[];

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T12:00:00Z'));
  statistics = new Statistics();
  stopping = new AbortController();
  written = [];
});

interface Given {
  readonly width?: number;
  readonly height?: number;
  readonly happening?: string;
  readonly clusters?: readonly ClusterPhase[];
}

/** A started display. */
function displayed({ width = 100, height = 40, happening = 'Node n1 is lost', clusters }: Given = {}) {
  const display = new LiveDisplay(
    {
      ...{ clock, statistics, signal: stopping.signal, degraded: { afterMs: 60_000, below: 0.5 } },
      happening: () => happening,
      clusters: clusters && (() => clusters),
    },
    { write: (text) => written.push(text) },
    () => ({ width, height }),
  );
  display.started(['about the demo']);
  const apply = (given: GivenApplied) => recordOutcome(statistics, display, anApplied(given));
  return { display, apply };
}

/** Lines of the page as drawn last. */
async function page(): Promise<readonly string[]> {
  await advance(clock, 1_000);
  return stripVTControlCharacters(written.at(-1) ?? '')
    .replace('\r', '')
    .split('\n')
    .slice(0, -1);
}

test('the page shows what happens, counts of Services, writes and the last changes', async () => {
  const { apply } = displayed();
  apply({ service: 'web', slices: ['web-a'] });
  apply({ service: 'web', slices: [], latencyMs: 8 });
  apply({ service: 'db', slices: [], causes: ['Node n1 deleted'] });
  const lines = await page();
  expect(written.slice(0, 2).join('')).toBe('about the demo\n\n');
  expect(lines).toEqual([
    'Simulation, running for 1.0 s; Ctrl-C stops it with a summary',
    '  now        Node n1 is lost',
    '  Services   0 ok, 1 rolling; 1 of 2 endpoints ready',
    expect.stringMatching(/^ {2}written {4}1 object, latency p50 \S.*, p99 /),
    '',
    expect.stringMatching(/^\d\d:00:00\.500 {2}Pod shop\/web-1 became ready$/),
    expect.stringMatching(/^ {14}shop\/web: 1 of 2 ready, written in /),
    expect.stringMatching(/ Node n1 deleted$/),
    expect.stringMatching(/^ {14}shop\/db: /),
  ]);
});

test('errors and several clusters are shown', async () => {
  const clusters = [
    { name: 'east', phase: 'serving' },
    { name: 'west', phase: 'unavailable' },
  ];
  const { apply } = displayed({ clusters, happening: '' });
  apply({ status: 'conflict', message: 'modified' });
  apply({ status: 'rejected', message: 'forbidden' });
  const text = (await page()).join('\n');
  expect(text).not.toContain('now');
  expect(text).toContain('written    0 objects, latency');
  expect(text).toContain(', 1 conflict, 1 refused plan\n');
  expect(text).toContain('clusters   1 serving, west unavailable');
  expect(text).toContain('sim shop/web: rejected');
});

describe('in every terminal', () => {
  const long = 'x'.repeat(300);

  test.each([1, 2, 5, 6, 9, 24, 60])('it fits into %i lines', async (height) => {
    const { apply } = displayed({ height });
    for (let i = 0; i < 30; i++) apply({ service: `s${i}`, causes: [`cause ${i}`] });
    const lines = await page();
    expect(lines.length).toBeLessThanOrEqual(Math.max(1, height - 1));
    if (height >= 24) expect(lines.at(-2)).toContain('cause 29');
    expect(lines.length).toBeLessThan(15);
  });

  test.each([2, 20, 60, 80, 200])('it fits into %i columns', async (width) => {
    const { apply } = displayed({ width, happening: long, clusters: [{ name: long, phase: 'unavailable' }] });
    apply({ service: long, causes: [long] });
    for (const line of await page()) expect(line.length, line).toBeLessThanOrEqual(width);
  });

  test('text from elsewhere cannot draw or add lines', async () => {
    const hostile = 'a\n\u001b[2Jb\u009bc';
    const { apply } = displayed({ happening: hostile, clusters: [{ name: hostile, phase: 'unavailable' }] });
    const expected = (await page()).length + 2;
    apply({ service: hostile, causes: [hostile] });
    await advance(clock, 1_000);
    const drawn = written.at(-1) ?? '';
    expect(drawn.split('\n').length - 1).toBe(expected);
    expect(drawn.split('\u001b[2J')).toHaveLength(1);
    expect(drawn).not.toContain('\u009b');
    expect(drawn.match(/a \\u001b\[2Jb\\u009bc/g)).toHaveLength(4);
  });
});

test('when the run stops, the page is erased and no longer drawn, and the summary is printed', async () => {
  const { display } = displayed();
  await advance(clock, 1_000);
  stopping.abort();
  const { length } = written;
  expect(stripVTControlCharacters(written.at(-1) ?? '').trim()).toBe('');
  await advance(clock, 5_000);
  expect(written).toHaveLength(length);
  expect(clock.nextAt()).toBeUndefined();
  display.ended(statistics, 1_500);
  expect(stripVTControlCharacters(written.join(''))).toContain('Ran 1.5 s\n');
});
