import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { asRecord, asString } from '@sluice/platform';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, ensureHelm, kubectl, startControlPlane } from '../local/src/index.ts';

/**
 * Installs the chart in a real API server, and runs the commands of kubectl that Helm prints then. Without a kubelet, what they forward
 * or read is compared with the Pods instead. `tests/documented-commands.test.ts` checks the commands of Sluice.
 */

const root = mkdtempSync(join(tmpdir(), 'sluice-helm-notes-'));
let helm: string;
let cluster: ControlPlane;

beforeAll(async () => {
  helm = await ensureHelm();
  cluster = await startControlPlane({
    ...{ directory: join(root, 'cluster'), name: 'notes', authorization: 'RBAC', grantSluice: false },
  });
  await kubectl(cluster.adminKubeconfig, ['create', 'namespace', 'sluice']);
  await kubectl(cluster.adminKubeconfig, ['create', 'namespace', 'shop']);
  await kubectl(cluster.adminKubeconfig, ['-n', 'shop', 'create', 'serviceaccount', 'developer']);
});

afterAll(async () => {
  await cluster?.stop();
  rmSync(root, { recursive: true, force: true });
});

async function helmRun(...args: readonly string[]): Promise<string> {
  const given = ['--kubeconfig', cluster.adminKubeconfig, '--namespace', 'sluice'];
  return (await promisify(execFile)(helm, [...args, ...given])).stdout;
}

async function objectOf(name: string) {
  return asRecord(JSON.parse(await kubectl(cluster.adminKubeconfig, ['-n', 'sluice', 'get', name, '-o', 'json'])));
}

/** What connects a Service, the Pods of a Deployment, and the address at which their console listens. */
async function consoleBehind(service: string, deployment: string) {
  const { selector, ports } = asRecord((await objectOf(service)).spec);
  const { metadata, spec } = asRecord(asRecord((await objectOf(deployment)).spec).template);
  const [port] = ports as readonly unknown[];
  const settings = asRecord((await objectOf('configmap/sluice')).data);
  return {
    selects: Object.entries(asRecord(selector)).every(
      ([key, value]) => asRecord(asRecord(metadata).labels)[key] === value,
    ),
    port: asRecord(port),
    address: asString(settings.SLUICE_CONSOLE_BIND_ADDRESS),
    container: asRecord((asRecord(spec).containers as readonly unknown[])[0]),
  };
}

const fleet = ['--set', 'bus.servers=tls://nats:4222,store.url=rediss://redis'];

test.each([
  ['allInOne', 'all-in-one', []],
  ['observe', 'observe', ['--set', 'console.authorizationMode=cluster']],
  ['shadow', 'shadow', []],
  ['workers', 'console', fleet],
  ['roles', 'console', [...fleet, '--set', 'nameOverride=other,fullnameOverride=sluice']],
])('the commands that Helm prints in mode %s work', async (mode, component, values) => {
  const printed = await helmRun('install', 'sluice', import.meta.dirname, '--set', `mode=${mode}`, ...values);
  try {
    const notes = printed.slice(printed.indexOf('\nNOTES:\n'));
    const commands = notes.match(/(?<=^ {2}kubectl ).+$/gm)?.map((line) => line.split(' ')) ?? [];
    expect(commands.length).toBeGreaterThanOrEqual(2);
    for (const words of commands) {
      const command = words.filter((word) => !word.startsWith('>'));
      if (command.includes('logs')) await objectOf(command.at(-1) ?? '');
      else if (!command.includes('port-forward')) await kubectl(cluster.adminKubeconfig, command);
    }
    expect(commands).toContainEqual(['-n', 'sluice', 'port-forward', 'service/sluice-console', '10270']);
    const { selects, port, address, container } = await consoleBehind(
      ...(['service/sluice-console', `deployment/sluice-${component}`] as const),
    );
    expect(selects).toBe(true);
    expect(port.port).toBe(10_270);
    expect(address).toBe(`127.0.0.1:${String(port.targetPort)}`);
    expect(container.args).not.toContain('--no-console');
  } finally {
    await helmRun('uninstall', 'sluice');
  }
});
