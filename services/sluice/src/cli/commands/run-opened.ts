import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { lazyConsole } from '@sluice/console';
import { parseAt } from '@sluice/console/terminal';
import type { Configuration } from '@sluice/fleet/configuration';
import { errorMessage } from '@sluice/platform';
import { localTime, print, type RootLogger, systemClock, UsageError, version } from '@sluice/platform/process';
import { Metrics } from '@sluice/telemetry';
import { defaultDirectory } from '../../composition/open-recorder.ts';
import { type OpenedRecording, openRecording } from '../../composition/open-recording.ts';
import { configuredProblemRules } from '../../composition/problem-rules-file.ts';
import { startRecordedApiServers } from '../../composition/recorded-api-servers.ts';
import { withDecrypted } from './open-encrypted.ts';
import { pageAddressesOf, serve } from './serve-page.ts';

export interface OpenOptions extends PastOptions {
  /** Private keys with which an encrypted recording is read. */
  readonly identityFile?: string;
}

/** Which time of the recording kubectl reads. */
interface PastOptions {
  readonly at?: string;
  readonly speed?: number;
  readonly allowWrites?: boolean;
  readonly writeKubeconfig?: string;
}

interface Context {
  readonly configuration: Configuration;
  readonly logger: RootLogger;
}

/** Serves a recording, by default that of `sluice observe`, until `stopped` resolves. */
export const runOpened = (
  path = defaultDirectory(process.env),
  { identityFile, ...past }: OpenOptions,
  stopped: Promise<void>,
  context: Context,
): Promise<void> => withDecrypted(path, identityFile, (clear) => serveRecording(clear, past, stopped, context));

async function serveRecording(
  path: string,
  past: PastOptions,
  stopped: Promise<void>,
  { configuration, logger }: Context,
): Promise<void> {
  const addresses = pageAddressesOf(configuration);
  if (configuration.console.authorizationMode === 'cluster') {
    throw new UsageError(
      'console.authorizationMode is cluster, but a recording is served without its clusters, so that nobody reviews the access of readers: remove the setting',
    );
  }
  const { at, ...others } = past;
  if (at === undefined && (others.speed ?? others.allowWrites ?? others.writeKubeconfig) !== undefined) {
    throw new UsageError('--speed, --allow-writes and --write-kubeconfig need --at, the time that kubectl reads');
  }
  const problemRules = configuredProblemRules(configuration.recording);
  const opened = await openRecording(path, {
    clock: systemClock,
    onProgress: (read, services) => logger.debug('reading recording', { read, services }),
    onUnreadable: (reason) => logger.warn('part of the recording cannot be read', { reason }),
  });
  const { history, recording, clusters, period } = opened;
  const objects = at === undefined ? undefined : await serveObjects(opened, at, others, logger);
  const ports = { clock: systemClock, logger };
  const sources = { clusters: () => clusters, recording, problemRules };
  const console = lazyConsole({ ...ports, history, sources, access: { hosts: [] }, version });
  const metrics = new Metrics({ clusters: new Map(clusters.map(({ identity, name }) => [identity, name])) });
  const health = { livez: () => [], readyz: () => [] };
  const telemetry = { metrics, health, clock: systemClock, log: logger, otherwise: console.handle };
  try {
    const server = await serve(addresses, telemetry, logger);
    const [from, to] = [period.from, period.to].map(timeOf);
    const what = `${history.size} Services of ${clusters.map(({ name }) => name).join(', ')}, from ${from} to ${to}`;
    const redacted = opened.isRedacted ? ['Names and addresses are redacted.'] : [];
    const lines = [`Recording: ${what}`, ...redacted, ...server.introduction, ...(objects?.introduction ?? [])];
    print(process.stdout, `${lines.join('\n')}\n`);
    await stopped;
    await console.close();
    await server.close();
  } finally {
    await objects?.close();
    opened.close();
  }
}

const timeOf = (at: number): string => localTime(at, systemClock.now());

/** Serves the objects of a time to kubectl. */
async function serveObjects(
  { clusters, period, play }: OpenedRecording,
  at: string,
  { speed = 0, allowWrites = false, writeKubeconfig }: Omit<PastOptions, 'at'>,
  logger: RootLogger,
) {
  const from = parseAt(at, period.to);
  if (from === undefined || from < period.from || from > period.to) {
    const expected = `a time from ${timeOf(period.from)} to ${timeOf(period.to)}`;
    throw new UsageError(`--at is ${JSON.stringify(at)}; expected ${expected}, e.g. 03:12 or "5m ago"`);
  }
  const servers = await startRecordedApiServers(play(from), {
    ...{ clock: systemClock, from, to: period.to, speed, allowWrites },
    clusters: new Map(clusters.map(({ identity, name }) => [identity, name])),
    onEnd: () => logger.info('the recording has ended; kubectl shows its last state'),
  });
  const kubeconfig = writeNew(writeKubeconfig, JSON.stringify(servers.kubeconfig, null, 2));
  return {
    introduction: [
      `Objects at ${timeOf(from)}${speed === 0 ? '' : ` and then, at ${speed} times the speed`}${allowWrites ? '' : ', read-only'}:`,
      `  kubectl --kubeconfig ${kubeconfig} get ${speed === 0 ? 'services,endpointslices,pods -A' : 'endpointslices -A --watch'}`,
    ],
    async close() {
      await servers.close();
      rmSync(writeKubeconfig === undefined ? dirname(kubeconfig) : kubeconfig, { recursive: true, force: true });
    },
  };
}

/** Writes a file that must not exist yet, in a new directory by default. */
function writeNew(given: string | undefined, text: string): string {
  const path = resolve(given ?? join(mkdtempSync(join(tmpdir(), 'sluice-open-')), 'kubeconfig'));
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new UsageError(`--write-kubeconfig: ${errorMessage(error)}`);
  }
  return path;
}
