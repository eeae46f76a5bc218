import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type Cell, Cells } from './cells.ts';
import { barChart } from './chart.ts';
import { outlines, overview } from './overview.ts';
import type { Run } from './results.ts';
import { namespaceNames } from './shape.ts';
import { allWorkloads, type Workload } from './workloads.ts';

const directory = mkdtempSync(join(tmpdir(), 'sluice-cells-'));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const [workload] = allWorkloads({ rounds: 1, seconds: 1 }) as [Workload];

function cell(controller: string, round: number, p50: number, commit = 'a'): Cell {
  const cpuSeconds = { controller: p50 / 10, apiServer: 1, etcd: 1, bench: 1, others: 0 };
  const cost = { seconds: 1, writes: { 'update endpoints': 10 }, cpuSeconds, peakMemoryMb: 100 };
  const arrival = { histogram: [[p50, 700]] as const, max: p50, missing: 0, cancelled: 0 };
  const load = { flips: 10, failed: 0, lateMs: { p99: 1, max: 1 }, answerMs: { p50: 1, p99: 1 }, mostInFlight: 1 };
  const result = { phase: 'a < b', rate: 20, flips: 10, slices: arrival, endpoints: arrival, load, cost };
  const run: Run = {
    ...{ controller, round, coldStart: { completeSeconds: 1, firstWriteSeconds: 1, cost } },
    rates: [{ ...result, convergenceSeconds: 0 }],
  };
  const conditions = { startedAt: `2026-01-0${round}`, machine: 'm', kernel: 'l', commit, node: 'n' };
  return {
    ...{ version: 2, conditions, command: 'c', kubernetes: 'k', fsync: false, shape: workload.shape, seconds: 1 },
    ...{ workload: workload.name, run },
  };
}

it('stores cells, resumes and combines them into one comparison', () => {
  const cells = new Cells(directory);
  expect(cells.results(workload.name, ['sluice', 'kcm'])).toBeUndefined();
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
  const results = again.results(workload.name, ['sluice', 'kcm']);
  expect(results?.runs.map(({ round, controller }) => `${round} ${controller}`)).toEqual([
    ...['1 sluice', '1 kcm', '2 sluice', '2 kcm'],
  ]);
  if (results === undefined) throw new Error('nothing');

  const all = outlines([{ workload, results }]);
  const [latency, cost] = overview(all, 'kcm');
  expect(latency?.rows.at(-1)?.cells).toEqual([
    ...['100x20, a < b', '10 · 40, 0.25×', '30 · 40, 0.75×', '30 · 40, 0.75×'],
    ...['10 · 40, 0.25×', '30 · 40, 0.75×', '30 · 40, 0.75×', '1,400 · 1,400', '1,400 · 1,400', '0 · 0'],
  ]);
  expect(cost?.rows.at(-1)?.cells).toEqual([
    ...['100x20, a < b', '200 · 400, 0.50×', '100 · 100, 1.00×', '1 · 1, 1.00×', '100 · 100, 1.00×'],
  ]);
  const svg = barChart('Latency', all, 'p50', ['sluice', 'kcm']);
  expect(svg.match(/<rect x=/g)).toHaveLength(4);
  expect(svg).toContain('a &lt; b');
});

it('refuses to combine cells of several commits', () => {
  const cells = new Cells(directory);
  cells.add(cell('kcm', 1, 40));
  cells.add(cell('sluice', 1, 10, 'b'));
  expect(() => cells.results(workload.name, ['sluice', 'kcm'])).toThrow('measurements of one table differ in commit: ');
});

it('has one workload whose Services share a namespace', () => {
  const shared = allWorkloads({ rounds: 5, seconds: 10 }).filter(
    ({ shape }) => shape.services > 1 && namespaceNames(shape).length < 50,
  );
  expect(shared.map(({ name }) => name)).toEqual(['1000x20-one-namespace']);
});
