/**
 * Measures Sluice and kube-controller-manager side by side on a real API server. See `--help`.
 * Exit status 0 on success, 1 on failure, 2 for a usage error, 130 when interrupted.
 */

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ensureBinaries, KUBERNETES_VERSION } from '@sluice/local';
import { UsageError } from '@sluice/platform/process';
import { runProgram, say } from '@sluice/program';
import { conditionsNow, rotate } from './src/conditions.ts';
import { CONTROLLERS } from './src/controllers.ts';
import { HELP, type Options, parseLatencyOptions } from './src/latency-options.ts';
import { measure } from './src/measure.ts';
import { coldAndWarm, secondsAt } from './src/phase.ts';
import { requireProcessStats } from './src/process-stats.ts';
import { renderMarkdown, renderText } from './src/render.ts';
import type { Results, Run } from './src/results.ts';
import { resultsJson, writeResults } from './src/results-file.ts';
import { defaultNamespaces } from './src/shape.ts';
import { summarize } from './src/summary.ts';

async function main(): Promise<void> {
  const options = parseLatencyOptions(process.argv.slice(2));
  if (options === 'help') {
    process.stdout.write(HELP);
    return;
  }
  const results = options.from === undefined ? await measureAll(options) : readResults(options.from);
  process.stdout.write(render(results, options.output));
}

async function measureAll(options: Options): Promise<Results> {
  requireProcessStats();
  const started = new Date();
  await ensureBinaries(say);
  if (options.profile !== undefined) mkdirSync(options.profile, { recursive: true });
  const directory = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
  const runs: Run[] = [];
  const results = () => describe(options, started, runs);
  for (let round = 1; round <= options.rounds; round += 1) {
    for (const controller of rotate(options.controllers, round)) {
      const { shape, rates, seconds, timeoutSeconds, fsync } = options;
      const run = await measure(controller, round, {
        directory: join(directory, 'cluster'),
        phases: coldAndWarm(rates, (rate) => secondsAt(rate, options.rounds, seconds)),
        ...{ shape, timeoutSeconds, fsync, say },
        ...(options.profile !== undefined && { profileDirectory: resolve(options.profile) }),
      });
      runs.push(run);
      // After each run, so that an interrupted measurement keeps its results.
      if (options.json !== undefined) writeResults(options.json, results());
    }
  }
  // Kept on failure: it contains the logs of the servers.
  rmSync(directory, { recursive: true, force: true });
  return results();
}

function describe(options: Options, started: Date, runs: readonly Run[]): Results {
  const { services, pods, namespaces } = options.shape;
  const order = options.controllers.map(({ name }) => name);
  const flags = [
    `--services ${services} --pods ${pods} --rates ${options.rates.join(',') || 'none'}`,
    ...(namespaces === defaultNamespaces ? [] : [`--namespaces ${namespaces}`]),
    `--seconds ${options.seconds} --rounds ${options.rounds}`,
    ...(options.controllers === CONTROLLERS ? [] : [`--controllers ${order.join(',')}`]),
    ...(options.fsync ? ['--fsync'] : []),
  ];
  return {
    version: 2,
    conditions: { ...conditionsNow(), startedAt: started.toISOString() },
    command: `npm run bench -- ${flags.join(' ')}`,
    kubernetes: KUBERNETES_VERSION,
    fsync: options.fsync,
    shape: options.shape,
    seconds: options.seconds,
    rounds: options.rounds,
    runs: runs.toSorted((a, b) => a.round - b.round || order.indexOf(a.controller) - order.indexOf(b.controller)),
  };
}

function render(results: Results, output: Options['output']): string {
  if (output === 'json') return resultsJson({ ...results, summary: summarize(results) });
  return output === 'markdown' ? renderMarkdown(results, CONTROLLERS) : renderText(results);
}

function readResults(file: string): Results {
  if (!existsSync(file)) throw new UsageError(`--from: no such file: ${file}`);
  const results: Results = JSON.parse(readFileSync(file, 'utf8'));
  if (results.version !== 2) throw new UsageError(`--from: ${file} was not written by this bench`);
  return results;
}

await runProgram(main);
