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

const run = (controller: string, round: number, p99: number, extra: Partial<Run['rates'][number]> = {}): Run => ({
  controller,
  round,
  coldStart: { completeSeconds: 0.5 * round, firstWriteSeconds: 0.25, cost: cost(1) },
  rates: [
    {
      rate: 20,
      flips: 100,
      latencyMs: { p50: 5.123, p90: 8, p99, max: 1000 },
      endpointsLatencyMs: undefined,
      missing: 0,
      superseded: 0,
      convergenceSeconds: 0.01,
      load: { flips: 100, failed: 0, lateMs: { p99: 1, max: 2 }, answerMs: { p50: 3, p99: 9 }, mostInFlight: 2 },
      cost: cost(0.25),
      ...extra,
    },
  ],
});

const results: Results = {
  version: 1,
  command: 'npm run bench -- --rounds 3',
  startedAt: '2026-01-02T03:04:05.000Z',
  machine: '2 × CPU, 8 GB',
  commit: 'abc1234',
  node: 'v24.0.0',
  kubernetes: 'v1.36.3',
  fsync: false,
  shape: { services: 100, pods: 20 },
  seconds: 5,
  rounds: 3,
  runs: [1, 2, 3].flatMap((round) => [run('sluice', round, 10 * round), run('kcm', round, 4000)]),
};

it('shows medians over the rounds, then Sluice divided by the others', () => {
  const [cold, rate] = tables(results);
  expect(cold?.title).toBe('100 Services × 20 Pods, cold start');
  expect(cold?.rows[0]?.cells).toEqual(['sluice', '1', '0.25', '200', '1', '2', '140', '0.50–1.50']);
  expect(rate?.rows.map(({ cells }) => cells)).toEqual([
    ['sluice', '5.12', '8', '20', '–', '0', '2', '2.50', '20', '5', '140', '10–30'],
    ['kcm', '5.12', '8', '4,000', '–', '0', '2', '2.50', '20', '5', '140', '4,000–4,000'],
    ['÷ kcm', '1.00×', '1.00×', '0.005×', '–', '–', '1.00×', '1.00×', '1.00×', '1.00×', '1.00×', ''],
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
  const slow = { p50: 16_600.4, p90: 20_000, p99: 24_512.3, max: 30_000 };
  const runs = ['sluice', 'fleet', 'kcm', 'kcm-raised'].map((name) =>
    run(name, 1, 1, { latencyMs: slow, endpointsLatencyMs: slow, missing: 1234 }),
  );
  const lines = renderText({ ...results, runs }).split('\n');
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
});

it('lists warnings', () => {
  const late = { flips: 100, failed: 3, lateMs: { p99: 50, max: 80 }, answerMs: { p50: 3, p99: 9 }, mostInFlight: 64 };
  const runs = [run('sluice', 2, 10, { load: late, missing: 4, superseded: 5, cost: cost(1, 5) })];
  const text = renderText({ ...results, runs });
  expect(text.match(/^warning: .*$/gm)).toEqual([
    'warning: sluice, round 2, 20 flips/s: other programs used 50 % of a processor',
    'warning: sluice, round 2, 20 flips/s: the load fell behind its plan, by 50 ms (p99)',
    'warning: sluice, round 2, 20 flips/s: 3 Pod writes failed',
    'warning: sluice, round 2, 20 flips/s: 4 flips were never visible',
    'warning: sluice, round 2, 20 flips/s: 5 flips have no latency, because all Pods had pending flips',
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
