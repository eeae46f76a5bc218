import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { clientFor, defaultUrl } from './client-for.ts';

let directory: string;
let server: Server;
let port: number;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-forward-'));
  server = createServer((_, response) => response.end(JSON.stringify({ clusters: [{ name: 'prod' }] })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
  vi.stubEnv('PATH', `${directory}${delimiter}${process.env.PATH}`);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(directory, { recursive: true });
});

const pod = (name: string, component: string, phase = 'Running') => ({
  metadata: { namespace: 'sluice', name, labels: { 'app.kubernetes.io/component': component } },
  status: { phase },
});

/** A kubectl that knows these Pods and forwards to the server. */
function installKubectl(pods: readonly object[], leader = ''): void {
  const answers = {
    pods: JSON.stringify({ items: pods }),
    lease: JSON.stringify({ spec: { holderIdentity: leader } }),
  };
  for (const [name, text] of Object.entries(answers)) writeFileSync(join(directory, name), text);
  const script = `#!/bin/sh
echo "$*" >>"${directory}/calls"
case "$*" in
  *"get pods"*) cat "${directory}/pods" ;;
  *"get lease"*) cat "${directory}/lease" ;;
  *port-forward*) echo "Forwarding from 127.0.0.1:${port} -> 10280"; exec sleep 600 ;;
esac
`;
  writeFileSync(join(directory, 'kubectl'), script);
  chmodSync(join(directory, 'kubectl'), 0o755);
}

const calls = () => readFileSync(join(directory, 'calls'), 'utf8');
const ask = (context?: string) => clientFor({ console: defaultUrl, ...(context && { context }) }).overview();

test('--context asks the console in its cluster', async () => {
  installKubectl([pod('sluice-worker-a', 'worker'), pod('sluice-console-a', 'console')]);
  expect(await ask('staging')).toMatchObject({ clusters: [{ name: 'prod' }] });
  expect(calls()).toMatch(/^--context staging get pods --all-namespaces /);
  expect(calls()).toContain(
    '--context staging --namespace sluice port-forward --address 127.0.0.1 pod/sluice-console-a :10280',
  );
});

test('of several Pods, the leader has the history', async () => {
  const pods = ['a', 'b'].map((id) => pod(`sluice-${id}`, 'all-in-one'));
  installKubectl([pod('sluice-old', 'all-in-one', 'Failed'), ...pods], 'sluice-b_1_x');
  await ask('staging');
  expect(calls()).toContain('pod/sluice-b :10280');
});

test('says why there is no console', async () => {
  installKubectl([pod('sluice-worker-a', 'worker')]);
  await expect(ask('staging')).rejects.toThrow('no Pod with a console runs in this cluster');
  writeFileSync(join(directory, 'kubectl'), '#!/bin/sh\necho "context \\"x\\" does not exist" >&2\nexit 1\n');
  await expect(ask('x')).rejects.toThrow('cannot look for a console in the cluster: context "x" does not exist');
  expect(() => clientFor({ console: 'http://127.0.0.1:1', context: 'x' })).toThrow('--console and --context both');
});
