import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type Cell, Cells } from './cells.ts';
import { barChart } from './chart.ts';
import { outlines, overview } from './overview.ts';
import type { Run } from './results.ts';
import { allWorkloads, type Workload } from './workloads.ts';

const directory = mkdtempSync(join(tmpdir(), 'sluice-cells-'));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const [workload] = allWorkloads(1) as [Workload];

function cell(controller: string, round: number, p50: number): Cell {
  const cpuSeconds = { controller: p50 / 10, apiServer: 1, etcd: 1, bench: 1, others: 0 };
  const cost = { seconds: 1, writes: { 'update endpoints': 10 }, cpuSeconds, peakMemoryMb: 100 };
  const latencyMs = { p50, p90: 2 * p50, p99: 3 * p50, max: 4 * p50 };
  const load = { flips: 10, failed: 0, lateMs: { p99: 1, max: 1 }, answerMs: { p50: 1, p99: 1 }, mostInFlight: 1 };
  const result = { phase: 'a < b', rate: 20, flips: 10, latencyMs, endpointsLatencyMs: undefined, load, cost };
  const run: Run = {
    ...{ controller, round, coldStart: { completeSeconds: 1, firstWriteSeconds: 1, cost } },
    rates: [{ ...result, missing: 0, superseded: 0, convergenceSeconds: 0 }],
  };
  const conditions = {
    version: 1 as const,
    command: 'c',
    startedAt: '2026-01-01',
    machine: 'm',
    commit: 'a',
    node: 'n',
  };
  return {
    ...conditions,
    kubernetes: 'k',
    fsync: false,
    shape: workload.shape,
    seconds: 1,
    workload: workload.name,
    run,
  };
}

it('stores cells, resumes and combines them into one comparison', () => {
  const cells = new Cells(directory);
  expect(cells.results(workload, ['sluice', 'kcm'])).toBeUndefined();
  for (const [name, round, p50] of [
    ['kcm', 1, 40],
    ['sluice', 1, 10],
    ['sluice', 2, 30],
    ['kcm', 2, 40],
  ] as const) {
    expect(cells.has(workload.name, name, round)).toBe(false);
    cells.add(cell(name, round, p50));
  }
  writeFileSync(join(directory, `${workload.name}--sluice--3.json.part`), '{"half');
  const again = new Cells(directory);
  expect(again.has(workload.name, 'sluice', 2)).toBe(true);
  expect(again.has(workload.name, 'sluice', 3)).toBe(false);
  const results = again.results(workload, ['sluice', 'kcm']);
  expect(results?.runs.map(({ round, controller }) => `${round} ${controller}`)).toEqual([
    ...['1 sluice', '1 kcm', '2 sluice', '2 kcm'],
  ]);
  if (results === undefined) throw new Error('nothing');

  const all = outlines([{ workload, results }]);
  expect(overview(all, 'kcm').rows.at(-1)?.cells).toEqual([
    ...['100x20, a < b', '0.50×', '0.50×', '0.50×', '1.00×', '0.50×', '1.00×', '1.00×', '20 · 40', '200 · 400'],
  ]);
  const svg = barChart('Latency', all, 'p50', ['sluice', 'kcm']);
  expect(svg.match(/<rect x=/g)).toHaveLength(4);
  expect(svg).toContain('a &lt; b');
});
