import { startSimulation } from '@sluice/demo';
import {
  exitStatus,
  marginMs,
  print,
  type RootLogger,
  shutDown,
  systemClock,
  systemRandom,
  UsageError,
} from '@sluice/platform/process';
import { createDisplay } from '../display/create-display.ts';
import { recordOutcome, Statistics } from '../display/display.ts';
import { demoCommands } from './demo-commands.ts';
import type { Run } from './run-options.ts';

/** Runs the simulated cluster on a fleet of processes with its own bus and store. */
export async function runDistributed(stopped: Promise<void>, run: Run, logger: RootLogger): Promise<void> {
  const { traces, console, log } = run.configuration;
  const ports = { clock: systemClock, random: systemRandom, logger };
  const statistics = new Statistics();
  const stopping = new AbortController();
  const { seed, rate } = run;
  const cluster = await startSimulation({
    ...ports,
    ...(seed !== undefined && { seed }),
    ...(rate !== undefined && { rate }),
  });
  const { demo } = cluster;
  const startedAt = systemClock.now();
  const display = createDisplay(run.output, {
    live: {
      ...{ clock: systemClock, statistics, signal: stopping.signal },
      ...{ degraded: console.degraded, happening: demo.happening },
    },
  });
  try {
    // Only this mode needs the local servers and their packages.
    const { startDistributed } = await import('@sluice/demo/distributed');
    const fleet = await startDistributed({
      ...ports,
      bus: run.bus ?? 'nats',
      // Like this process: bundled or from the sources, with the same options of Node.
      program: [...process.execArgv, ...process.argv.slice(1, 2)],
      server: cluster.server,
      clusterName: 'simulated-cluster',
      flags: flags({
        'log-level': log.level === 'info' ? 'warn' : log.level,
        'otlp-endpoint': traces.endpoint,
        'trace-ratio': traces.ratio,
        'trace-slow': `${traces.slowMs}ms`,
      }),
      consoleFlags: flags({ 'jaeger-url': console.jaegerUrl, 'jaeger-query-url': console.jaegerQueryUrl }),
      onOutcome: (plan, outcome) => {
        recordOutcome(statistics, display, { cluster: cluster.name, plan, outcome });
      },
      onLine: (process, line) => print(globalThis.process.stderr, `${process}: ${line}\n`),
    });
    display.started([
      'A fleet manages the endpoints of a simulated cluster; nothing real is touched',
      ...cluster.about,
      ...fleet.about,
      ...demoCommands({ ...demo, commands: demo.commands.filter(isAnswered) }, fleet.console),
    ]);
    try {
      const failed = await Promise.race([stopped, fleet.failed]);
      if (failed !== undefined) throw new UsageError(failed);
    } finally {
      stopping.abort();
      cluster.pause();
      await fleet.stop();
    }
  } finally {
    await shutDown([{ component: 'demo cluster', graceMs: marginMs, stop: () => cluster.close() }], ports);
  }
  display.ended(statistics, systemClock.now() - startedAt);
  if (statistics.refused.size > 0) process.exitCode ||= exitStatus.failure;
}

/** The roles send no traces by default. */
const isAnswered = (command: string): boolean => !command.startsWith('trace ');

function flags(values: Readonly<Record<string, string | number | undefined>>): readonly string[] {
  return Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, String(value)]));
}
