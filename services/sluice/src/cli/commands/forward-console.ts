import { execFile, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { QueryError } from '@sluice/console/client';
import { asRecord, asString, errorMessage } from '@sluice/platform';
import { print, printableLine } from '@sluice/platform/process';

/** Where a console listens in its Pod, on loopback, in the chart and the overlays. */
const consolePort = 10280;
/** Roles that serve no console. */
const others: ReadonlySet<string> = new Set(['shadow', 'worker', 'watcher', 'reconciler', 'writer']);

/**
 * Finds the Pod of a console in a cluster and forwards its port, both with kubectl, whose credentials and permissions count.
 * Returns the URL of the console. Forwarding ends with this process.
 *
 * @param context of kubectl. Default: the current one
 * @throws QueryError why there is none
 */
export async function forwardConsole(context: string | undefined): Promise<string> {
  const flags = context === undefined ? [] : ['--context', context];
  const { namespace, name } = await findPod(flags);
  print(process.stderr, `Forwarding the console of Pod ${printableLine(`${namespace}/${name}`)}\n`);
  const child = spawn(
    'kubectl',
    [...flags, '--namespace', namespace, 'port-forward', '--address', '127.0.0.1', `pod/${name}`, `:${consolePort}`],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  process.once('exit', () => child.kill());
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const port = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const [, found] = /^Forwarding from 127\.0\.0\.1:(\d+) /.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(stderr.trim() || 'kubectl port-forward ended')));
  }).catch((error: unknown) => {
    throw new QueryError(`cannot forward the port of Pod ${namespace}/${name}: ${errorMessage(error)}`);
  });
  // The command ends when it has printed its answer.
  child.unref();
  for (const stream of [child.stdout, child.stderr]) if ('unref' in stream) (stream as { unref(): void }).unref();
  return `http://127.0.0.1:${port}`;
}

interface PodName {
  readonly namespace: string;
  readonly name: string;
}

async function findPod(flags: readonly string[]): Promise<PodName> {
  const pods = itemsOf(
    await kubectl([
      ...flags,
      ...['get', 'pods', '--all-namespaces', '--selector=app.kubernetes.io/name=sluice', '--output=json'],
    ]),
  ).flatMap(toConsole);
  if (pods.length === 0) {
    throw new QueryError(
      'no Pod with a console runs in this cluster: install Sluice with infra/helm, start "sluice observe" on this machine, or pass --console URL',
    );
  }
  // Only the leader has a history.
  const leader = pods.length === 1 ? '' : await leaderOf(flags);
  return pods.find(({ name }) => leader.startsWith(`${name}_`)) ?? (pods[0] as PodName);
}

function toConsole(pod: unknown): readonly PodName[] {
  const { metadata, status } = asRecord(pod);
  const { namespace, name, labels } = asRecord(metadata);
  if (asRecord(status).phase !== 'Running') return [];
  if (others.has(asString(asRecord(labels)['app.kubernetes.io/component']))) return [];
  return [{ namespace: asString(namespace), name: asString(name) }];
}

async function leaderOf(flags: readonly string[]): Promise<string> {
  const args = ['get', 'lease', 'sluice-leader', '--namespace=kube-system', '--output=json'];
  const lease = await kubectl([...flags, ...args]).catch(() => ({}));
  return asString(asRecord(asRecord(lease).spec).holderIdentity);
}

const itemsOf = (list: unknown): readonly unknown[] => {
  const { items } = asRecord(list);
  return Array.isArray(items) ? items : [];
};

const run = promisify(execFile);

async function kubectl(args: readonly string[]): Promise<unknown> {
  try {
    const { stdout } = await run('kubectl', args, { maxBuffer: 64 * 2 ** 20, timeout: 30_000 });
    return JSON.parse(stdout);
  } catch (error) {
    const { stderr, code } = asRecord(error);
    const reason = code === 'ENOENT' ? 'kubectl is not in $PATH' : asString(stderr).trim() || errorMessage(error);
    throw new QueryError(`cannot look for a console in the cluster: ${reason}`);
  }
}
