import { writeFileSync } from 'node:fs';
import { toSettings } from '@sluice/fleet/configuration';
import { sleep } from '@sluice/platform';
import {
  exitStatus,
  graceMs,
  marginMs,
  print,
  type RootLogger,
  shutDown,
  systemClock,
  systemRandom,
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
import { Metrics, startTelemetry, syncHealth } from '@sluice/telemetry';
import { startShadow } from '../../composition/start-shadow.ts';
import type { OutputFormat } from '../display/create-display.ts';
import type { Run } from './run-options.ts';
import { connectShadowed } from './shadowed-clusters.ts';

/**
 * Decides like a normal run, but writes nothing and compares instead. Exits with status 1 if an unexplained difference
 * remains.
 */
export async function runShadow(stopped: Promise<void>, run: Run, logger: RootLogger): Promise<void> {
  const ports = { clock: systemClock, random: systemRandom, logger };
  const { controllers, metricsBindAddress, watcher } = run.configuration;
  const settings = toSettings(controllers);
  const clusters = await connectShadowed(run.configuration, ports);
  const names = new Map(clusters.map(({ identity, name }) => [identity, name]));
  const metrics = new Metrics({ clusters: names, fleet: clusters.length > 1 });
  const display = createShadowDisplay(run.output);
  let ready = false;
  const ended = new AbortController();
  const server =
    metricsBindAddress === null
      ? undefined
      : await startTelemetry(
          metricsBindAddress,
          { metrics, health: syncHealth([...names.values()].join(', '), () => ready), clock: systemClock },
          logger,
        );
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
        { component: 'metrics server', graceMs: marginMs, stop: () => server?.close() },
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

function createShadowDisplay(output: OutputFormat): ShadowDisplay {
  const { stdout } = process;
  const write = (text: string) => print(stdout, text);
  if (output === 'json') return jsonShadow(write);
  if (output === 'none') return { ...jsonShadow(() => {}), everyMs: 60_000 };
  if (!stdout.isTTY) return logShadow(write, 160);
  // It moves the cursor.
  return pageShadow(
    (text) => void stdout.write(text),
    () => ({ width: stdout.columns, height: stdout.rows }),
  );
}
