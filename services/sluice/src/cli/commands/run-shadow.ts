import { closeSync, openSync, writeFileSync } from 'node:fs';
import { tapBus } from '@sluice/console';
import { toSettings } from '@sluice/fleet/configuration';
import { errorMessage, sleep } from '@sluice/platform';
import {
  exitStatus,
  graceMs,
  marginMs,
  print,
  type RootLogger,
  shutDown,
  systemClock,
  systemRandom,
  UsageError,
} from '@sluice/platform/process';
import {
  jsonShadow,
  logShadow,
  pageShadow,
  readCurrentState,
  type ShadowDisplay,
  type ShadowReport,
  verdictOf,
} from '@sluice/shadow';
import type { Outage } from '@sluice/store';
import { Metrics, syncHealth } from '@sluice/telemetry';
import { reviewsOf } from '../../composition/access-reviews.ts';
import { startShadow } from '../../composition/start-shadow.ts';
import { clusterView } from '../../composition/telemetry/start-console.ts';
import type { OutputFormat } from '../display/create-display.ts';
import { openConsole, servedAt } from './open-console.ts';
import type { Run } from './run-options.ts';
import { serve } from './serve-page.ts';
import { connectShadowed } from './shadowed-clusters.ts';

/**
 * Decides like a normal run, but writes nothing and compares instead. Exits with status 1 if an unexplained difference
 * remains.
 */
export async function runShadow(stopped: Promise<void>, run: Run, logger: RootLogger): Promise<void> {
  const ports = { clock: systemClock, random: systemRandom, logger };
  const { controllers, watcher } = run.configuration;
  const addresses = servedAt(run);
  if (run.shadowReport !== undefined) checkWritable(run.shadowReport);
  const settings = toSettings(controllers);
  const clusters = await connectShadowed(run.configuration, ports);
  const names = new Map(clusters.map(({ identity, name }) => [identity, name]));
  const metrics = new Metrics({ clusters: names, fleet: clusters.length > 1 });
  const display = createShadowDisplay(run.output);
  let ready = false;
  const ended = new AbortController();
  const outages = new Map<string, Outage | null>();
  const accesses = new Map(clusters.map(({ identity, access }) => [identity, access]));
  const reviews = reviewsOf(run.configuration, accesses, ports);
  const views = () =>
    clusters.map((cluster) => clusterView(cluster, 'compared', { outage: outages.get(cluster.identity) ?? null }));
  const console = openConsole(views, run, logger, { reviewer: reviews });
  const health = syncHealth([...names.values()].join(', '), () => ready);
  const served = { metrics, health, clock: systemClock, ...(console && { otherwise: console.console.handle }) };
  const server = await serve(addresses, served, logger);
  introduce(run.output, server.introduction);
  const shadow = startShadow({
    ...ports,
    clusters: clusters.map((cluster) => ({
      ...cluster,
      existing: (key, signal) => readCurrentState(cluster, key, signal),
    })),
    settings,
    gracePeriodMs: run.shadowGracePeriod,
    metrics,
    maxCacheBytes: watcher.maxCacheBytes,
    ...(console && { tap: (bus) => tapBus(bus, console.history) }),
    onAvailability: ({ identity }, outage) => outages.set(identity, outage),
    onDifference: (difference) => display.difference(difference),
    onResolved: (difference) => display.resolved(difference),
  });
  const synced = shadow.synced.then(() => {
    ready = true;
  });
  synced.catch(() => {});
  const showing = show(display, shadow, ended.signal);
  try {
    await Promise.race([stopped, shadow.done]);
  } finally {
    ended.abort();
    await showing;
    await shutDown(
      [
        { component: 'services', graceMs, stop: () => shadow.stop() },
        { component: 'console', graceMs: marginMs, stop: () => console?.console.close() },
        { component: 'metrics server', graceMs: marginMs, stop: () => server.close() },
        { component: 'access reviews', graceMs: marginMs, stop: () => reviews?.close() },
        ...clusters.map((cluster) => ({
          ...{ component: `connections to ${cluster.name}`, graceMs: marginMs },
          stop: () => cluster.close(),
        })),
      ],
      ports,
    );
  }
  const report = shadow.report();
  display.ended(report);
  if (run.shadowReport !== undefined) writeReport(run.shadowReport, report);
  if (report.services.unexplained > 0) process.exitCode = exitStatus.failure;
}

/** A report that cannot be written after hours would be lost. */
function checkWritable(path: string): void {
  try {
    closeSync(openSync(path, 'a'));
  } catch (error) {
    throw new UsageError(`--shadow-report: ${errorMessage(error)}; give a file in an existing directory`);
  }
}

function writeReport(path: string, report: ShadowReport): void {
  const { result: verdict, text } = verdictOf(report);
  writeFileSync(path, `${JSON.stringify({ verdict, text, ...report }, null, 2)}\n`);
}

async function show(
  display: ShadowDisplay,
  shadow: Pick<ReturnType<typeof startShadow>, 'synced' | 'report'>,
  signal: AbortSignal,
): Promise<void> {
  const stopped = sleep(systemClock, 2 ** 31 - 1, signal);
  await Promise.race([shadow.synced.catch(() => {}), stopped]);
  if (!signal.aborted) display.started(shadow.report());
  while (!signal.aborted) {
    display.status(shadow.report());
    await sleep(systemClock, display.everyMs, signal);
  }
}

function introduce(output: OutputFormat, lines: readonly string[]): void {
  if (output === 'text') print(process.stdout, lines.map((line) => `${line}\n`).join(''));
  if (output === 'json') print(process.stdout, `${JSON.stringify({ event: 'serving', details: lines })}\n`);
}

function createShadowDisplay(output: OutputFormat): ShadowDisplay {
  const { stdout } = process;
  const write = (text: string) => print(stdout, text);
  if (output === 'json') return jsonShadow(write);
  if (output === 'none') return { ...jsonShadow(() => {}), everyMs: 60_000 };
  if (!stdout.isTTY) return logShadow(write, 160);
  return pageShadow(stdout, () => ({ width: stdout.columns, height: stdout.rows }));
}
