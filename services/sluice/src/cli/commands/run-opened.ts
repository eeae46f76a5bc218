import { lazyConsole } from '@sluice/console';
import type { Configuration } from '@sluice/fleet/configuration';
import { localTime, print, type RootLogger, systemClock, version } from '@sluice/platform/process';
import { Metrics, startTelemetry } from '@sluice/telemetry';
import { openRecording } from '../../composition/open-recording.ts';
import { loopbackOnly } from './loopback-only.ts';
import { addresses } from './run-all-in-one.ts';

/** Serves a recording until `stopped` resolves. */
export async function runOpened(
  path: string,
  stopped: Promise<void>,
  configuration: Configuration,
  logger: RootLogger,
): Promise<void> {
  const address = loopbackOnly(configuration);
  const opened = await openRecording(path, {
    clock: systemClock,
    onProgress: (read, services) => logger.debug('reading recording', { read, services }),
  });
  const { history, recording, clusters, period } = opened;
  for (const problem of opened.problems) logger.warn('part of the recording cannot be read', { reason: problem });
  const ports = { clock: systemClock, logger };
  const sources = { clusters: () => clusters, recording };
  const console = lazyConsole({ ...ports, history, sources, access: { hosts: [] }, version });
  const metrics = new Metrics({ clusters: new Map(clusters.map(({ identity, name }) => [identity, name])) });
  const health = { livez: () => [], readyz: () => [] };
  const server = await startTelemetry(
    address,
    { metrics, health, clock: systemClock, log: logger, otherwise: console.handle },
    logger,
  );
  const [from, to] = [period.from, period.to].map((at) => localTime(at, systemClock.now()));
  const what = `${history.size} Services of ${clusters.map(({ name }) => name).join(', ')}, from ${from} to ${to}`;
  print(process.stdout, `${[`Recording: ${what}`, ...addresses(server?.url, true)].join('\n')}\n`);
  await stopped;
  await console.close();
  await server?.close();
  opened.close();
}
