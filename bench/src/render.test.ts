import { expect, it } from 'vitest';
import { CONTROLLERS } from './controllers.ts';
import { renderMarkdown, renderText } from './render.ts';
import { tables } from './report.ts';
import type { Results, Run } from './results.ts';
import { rounded } from './statistics.ts';
import { number } from './table.ts';

const cost = (cpu: number, others = 0) => ({
  seconds: 10,
  writes: { 'update endpoints': 90, 'update endpointslices': 110 },
  cpuSeconds: { controller: cpu, apiServer: 2, etcd: 0.5, bench: 0.4, others },
  peakMemoryMb: 140.4,
});

/** 1,000 samples, a tenth of which is in each of two tails. */
const arrival = (p99: number, missing = 0, cancelled = 0) => ({
  histogram: [[5.123, 880] as const, [8, 100] as const, [p99, 20] as const],
  ...{ max: p99, missing, cancelled },
});

const run = (controller: string, round: number, p99: number, extra: Partial<Run['rates'][number]> = {}): Run => ({
  controller,
  round,
  coldStart: { completeSeconds: 0.5 * round, firstWriteSeconds: 0.25, cost: cost(1) },
  rates: [
    {
      rate: 20,
      flips: 100,
      slices: arrival(p99),
      convergenceSeconds: 0.01,
      load: { flips: 100, failed: 0, lateMs: { p99: 1, max: 2 }, answerMs: { p50: 3, p99: 9 }, mostInFlight: 2 },
      cost: cost(0.25),
      ...extra,
    },
  ],
});

const results: Results = {
  version: 2,
  conditions: {
    startedAt: '2026-01-02T03:04:05.000Z',
    machine: '2 × CPU, 8 GB',
    kernel: '6.1.0',
    commit: 'abc1234',
    node: 'v24.0.0',
  },
  command: 'npm run bench -- --rounds 3',
  kubernetes: 'v1.36.3',
  fsync: false,
  shape: { services: 100, pods: 20 },
  seconds: 5,
  rounds: 3,
  runs: [1, 2, 3].flatMap((round) => [run('sluice', round, 10 * round), run('kcm', round, 4000)]),
};

it('shows percentiles of all samples and medians of costs, then Sluice divided by the others', () => {
  const [cold, rate] = tables(results);
  expect(cold?.title).toBe('100 Services × 20 Pods, 50 namespaces, cold start');
  expect(cold?.rows[0]?.cells).toEqual(['sluice', '1', '0.25', '200', '1', '2', '140', '0.50–1.50']);
  expect(rate?.rows.map(({ cells }) => cells)).toEqual([
    ['sluice', '5.12', '8', '20', '–', '–', '–', '3,000', '0', '2', '2.50', '20', '140', '5.12–5.12'],
    ['kcm', '5.12', '8', '4,000', '–', '–', '–', '3,000', '0', '2', '2.50', '20', '140', '5.12–5.12'],
    ['÷ kcm', '1.00×', '1.00×', '0.005×', '–', '–', '–', '', '', '1.00×', '1.00×', '1.00×', '1.00×', ''],
  ]);
});

it('shows the cost that a fleet adds', () => {
  const [, rate] = tables({ ...results, runs: [run('sluice', 1, 20), run('fleet', 1, 31.5), run('kcm', 1, 40)] });
  expect(rate?.rows.map(({ cells }) => cells.slice(0, 4))).toEqual([
    ['sluice', '5.12', '8', '20'],
    ['fleet', '5.12', '8', '31.5'],
    ['kcm', '5.12', '8', '40'],
    ['fleet adds', '0', '0', '+11.5'],
    ['÷ kcm', '1.00×', '1.00×', '0.50×'],
  ]);
});

it('fits a terminal of 120 columns, large figures too', () => {
  const slow = { histogram: [[24_512.3, 20_000] as const], max: 24_512.3, missing: 1234, cancelled: 0 };
  const runs = ['sluice', 'fleet', 'kcm', 'kcm-raised'].map((name) =>
    run(name, 1, 1, { slices: slow, endpoints: slow }),
  );
  const lines = renderText({ ...results, runs }).split('\n');
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
});

it('lists warnings', () => {
  const late = { flips: 100, failed: 3, lateMs: { p99: 50, max: 80 }, answerMs: { p50: 3, p99: 9 }, mostInFlight: 64 };
  const runs = [run('sluice', 2, 10, { load: late, slices: arrival(10, 4, 5), cost: cost(1, 5) })];
  const text = renderText({ ...results, runs });
  expect(text.match(/^warning: .*$/gm)).toEqual([
    'warning: sluice, round 2, 20 flips/s: other programs used 50 % of a processor',
    'warning: sluice, round 2, 20 flips/s: the load fell behind its plan, by 50 ms (p99)',
    'warning: sluice, round 2, 20 flips/s: 3 Pod writes failed',
    'warning: sluice, round 2, 20 flips/s: 4 flips never arrived in EndpointSlices',
    'warning: sluice, round 2, 20 flips/s: 5 flips have no latency in EndpointSlices: their Pods flipped again before',
  ]);
  expect(renderText(results)).not.toContain('warning');
});

it('prints the same from a file', () => {
  const read: Results = JSON.parse(JSON.stringify(results, rounded));
  expect(renderText(read)).toBe(renderText(results));
});

it('writes Markdown with the command, the machine and only the controllers that ran', () => {
  const text = renderMarkdown(results, CONTROLLERS);
  expect(text).toContain('npm run bench -- --rounds 3');
  expect(text).toContain('2 × CPU, 8 GB');
  expect(text).toContain('- **kcm**:');
  expect(text).not.toContain('kcm-raised');
  expect(text).toMatch(/^\| _÷ kcm_ +\| +_1.00×_ \|/m);
});

it('prints three significant digits', () => {
  expect([0.1234, 5, 12.345, 123.4, 24_512.3, Number.NaN].map(number)).toEqual([
    '0.12',
    '5',
    '12.3',
    '123',
    '24,512',
    '–',
  ]);
});

it('prints no p99 of fewer than 1,000 samples', () => {
  const few = { histogram: [[5, 999] as const], max: 5, missing: 0, cancelled: 0 };
  const [, rate] = tables({ ...results, runs: [run('sluice', 1, 10, { slices: few, endpoints: arrival(70) })] });
  expect(rate?.rows[0]?.cells.slice(0, 8)).toEqual(['sluice', '5', '5', '–', '5.12', '8', '70', '999']);
});
