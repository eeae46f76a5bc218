import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import {
  ApiClient,
  namespaceObject,
  nodeObject,
  nodeStatus,
  podObject,
  reference,
  SluiceProcess,
  serviceObject,
} from '@sluice/conformance';
import { type ControlPlane, freePorts, kubectl, startControlPlane, startKubeControllerManager } from '@sluice/local';
import { listAt, objectAt, textAt } from '@sluice/shadow';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

/**
 * What an on-call engineer does and sees: faults on real API servers, and the output of the commands and of the log. A
 * killed process is in `demo/src/distributed/start-distributed.int.test.ts`, a closed OTLP port in
 * `services/sluice/src/cli/commands/run.int.test.ts`.
 */
const program = join(import.meta.dirname, '..', 'bin', 'sluice');
const namespace = 'shop';
const since = '2026-01-01T00:00:00Z';
let root: string;
let west: ControlPlane;
let east: ControlPlane;
let admin: ApiClient;
let run: SluiceProcess;
let consoleUrl: string;
let kubeconfigs: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'sluice-trial-'));
  west = await startControlPlane({ directory: join(root, 'west'), name: 'west', authorization: 'RBAC' });
  east = await startControlPlane({ directory: join(root, 'east'), name: 'east', authorization: 'RBAC' });
  admin = await ApiClient.open(west.adminKubeconfig);
  await admin.create('namespaces', namespaceObject(namespace));
  for (const name of ['node-a', 'node-b']) await admin.create('nodes', nodeObject({ name, zone: name.slice(-1) }));
  kubeconfigs = join(root, 'kubeconfigs');
  mkdirSync(kubeconfigs);
  for (const { name, kubeconfigs: files } of [west, east])
    writeFileSync(join(kubeconfigs, name), readFileSync(files.sluice), { mode: 0o600 });
  const [port] = await freePorts(1);
  consoleUrl = `http://127.0.0.1:${port}`;
  run = new SluiceProcess(['--take-over', '--kubeconfig', kubeconfigs, '--metrics-bind-address', `127.0.0.1:${port}`]);
  await run.until(() => (run.stderr.match(/serving cluster/g) ?? []).length === 2, 'both clusters are served');
});

afterAll(async () => {
  await run?.kill();
  await admin?.close();
  await Promise.all([west?.stop(), east?.stop()]);
  rmSync(root, { recursive: true, force: true });
});

beforeEach(({ onTestFailed }) =>
  onTestFailed(async () => {
    const slices = (await admin.list('endpointslices')).map((slice) => JSON.stringify(slice));
    console.log([...run.stderr.split('\n').slice(-60), ...slices].join('\n'));
  }),
);

/** Runs a command against the console of the run. */
function sluice(...args: string[]): Promise<{ readonly status: number; readonly output: string }> {
  const env = { ...process.env, SLUICE_CONSOLE: consoleUrl };
  return new Promise((resolve) => {
    execFile(program, args, { env }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), output: `${stdout}${stderr}` });
    });
  });
}

/** The clusters as the page Fleet shows them. */
async function clusters(): Promise<readonly unknown[]> {
  const overview = await (await fetch(`${consoleUrl}/api/v1/overview`)).json();
  return (overview as { readonly clusters: readonly unknown[] }).clusters;
}

const explain = async (...args: string[]) => (await sluice('explain', ...args)).output;

/** Waits until the output of a command contains the text. */
const shows = (output: () => Promise<string>, text: string | RegExp) =>
  expect.poll(output, { interval: 500 }).toMatch(text);

async function addService(name: string, { app = name, targetPort = 'http' } = {}): Promise<void> {
  const ports = [{ name: 'web', port: 80, targetPort }];
  await admin.create('services', serviceObject({ namespace, name, spec: { selector: { app }, ports } }));
}

type Condition = Readonly<Record<string, string>>;

async function setReady(name: string, ip: string, ready: boolean, condition: Condition = {}): Promise<void> {
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime: since, ...condition }];
  const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions };
  await admin.patch(reference('pods', { namespace, name }), { status }, 'status');
}

async function addPod(app: string, number: number, { nodeName = 'node-a', ip = `10.0.0.${number}` } = {}) {
  const name = `${app}-${number}`;
  await admin.create('pods', podObject({ namespace, name, labels: { app }, nodeName, ports: { http: 8080 } }));
  await setReady(name, ip, true);
}

/** The EndpointSlices of a Service. */
const slicesOf = async (service: string) =>
  (await admin.list('endpointslices')).filter(({ metadata }) => {
    const { labels = {} } = metadata as { readonly labels?: Readonly<Record<string, string>> };
    return labels['kubernetes.io/service-name'] === service;
  });

/** Whether each endpoint of a Service is ready, according to its slices. */
const areReady = async (service: string) =>
  (await slicesOf(service))
    .flatMap((slice) => listAt(slice, 'endpoints'))
    .map((endpoint) => objectAt(endpoint, 'conditions').ready);

async function sliceOf(service: string): Promise<string> {
  await expect.poll(async () => (await slicesOf(service)).length).toBe(1);
  return textAt((await slicesOf(service))[0]?.metadata, 'name');
}

test('a flapping Pod: its own reason, and how often it changed', async () => {
  await addService('flap');
  await addPod('flap', 1);
  await shows(() => explain('shop/flap'), 'now: ok, 1 of 1 endpoints ready');
  const unready = { reason: 'ContainersNotReady', message: 'containers with unready status: [main]' };
  for (let i = 0; i < 4; i++) {
    const ready = i % 2 === 1;
    await setReady('flap-1', '10.0.0.1', ready, ready ? {} : unready);
    await expect.poll(() => areReady('flap')).toEqual([ready]);
  }
  await setReady('flap-1', '10.0.0.1', false, unready);
  const pod = () => explain('-n', 'shop', 'flap', '--pod', 'flap-1');
  await shows(pod, /its readiness changed [5-9] times in the last minute/);
  await shows(pod, /Ready is False since .* \(ContainersNotReady: containers with unready status: \[main\]\)/);
});

test('a selector typo: the label that was probably meant', async () => {
  await addPod('cart', 11);
  await addPod('cart', 12);
  await addService('cart-typo', { app: 'crat' });
  await shows(() => explain('shop/cart-typo'), 'No Pod matches app=crat; 2 Pods in this namespace have app=cart.');
});

test('a wrong port name: no reachable endpoints', async () => {
  await addService('ports', { app: 'cart', targetPort: 'htpp' });
  const problem =
    'no reachable endpoints: port web refers to container port "htpp", which no Pod has (available: http)';
  await expect.poll(() => explain('shop/ports')).toContain(problem);
});

test('a deleted Node: which Pods it leaves out', async () => {
  await addService('nodes');
  await addPod('nodes', 21);
  await addPod('nodes', 22, { nodeName: 'node-b' });
  await shows(() => explain('shop/nodes'), 'now: ok, 2 of 2 endpoints ready');
  await admin.delete({ resource: 'nodes', name: 'node-b' });
  await shows(() => explain('shop/nodes'), 'degraded: 1 ready, 1 Pod left out because Node node-b does not exist');
});

test('topology hints: why a Service has none, whom they are for, and what the loss of a zone would leave', async () => {
  const setNode = (zone: string, ready: boolean) =>
    admin.patch({ resource: 'nodes', name: `zone-${zone}` }, nodeStatus(ready, '4'), 'status');
  for (const zone of ['a', 'b']) {
    await admin.create('nodes', nodeObject({ name: `zone-${zone}`, zone }));
    await setNode(zone, true);
  }
  await addService('zoned');
  await admin.patch(reference('services', { namespace, name: 'zoned' }), {
    metadata: { annotations: { 'service.kubernetes.io/topology-mode': 'Auto' } },
  });
  await addPod('zoned', 41, { nodeName: 'zone-a' });
  const zoned = () => explain('shop/zoned');
  await shows(zoned, 'No topology hints: Insufficient number of endpoints (1 endpoints, 2 zones).');
  expect(await zoned()).toContain('Without zone a, no ready endpoint would remain.');
  await addPod('zoned', 42, { nodeName: 'zone-a' });
  for (const number of [43, 44]) await addPod('zoned', number, { nodeName: 'zone-b' });
  await shows(zoned, 'Ready endpoints have topology hints for a (2), b (2).');
  expect(await zoned()).toContain('Allocatable CPU by zone: a 50 %, b 50 %.');
  expect(await zoned()).toMatch(/Without zone a, ready endpoints would remain in b \(2\), without hints: Insufficient/);
  const detail = await (await fetch(`${consoleUrl}/api/v1/services/${west.name}/${namespace}/zoned`)).json();
  expect(detail).toMatchObject({ notes: expect.arrayContaining([expect.stringContaining('for a (2), b (2)')]) });
  await setNode('b', false);
  await shows(zoned, 'No topology hints: Insufficient Node information');
  await setNode('b', true);
  await shows(zoned, 'Ready endpoints have topology hints for a (2), b (2).');
});

test('a hand-edited and a deleted slice: what was changed, and that it was repaired', async () => {
  await addService('edited');
  await addPod('edited', 31);
  const name = await sliceOf('edited');
  await expect.poll(async () => listAt((await slicesOf('edited'))[0] ?? {}, 'endpoints').length).toBe(1);
  await admin.patch(reference('endpointslices', { namespace, name }), { endpoints: [] });
  const history = async () => (await sluice('history', 'shop/edited')).output;
  await shows(history, new RegExp(`EndpointSlice ${name} was modified by sluice-differential: − edited-31`));
  const edit = `EndpointSlice ${name} was modified by sluice-differential: − edited-31. Sluice repaired it at`;
  await expect.poll(() => explain('shop/edited'), { interval: 500 }).toContain(edit);
  // The generation rose without a write of Sluice, which proves the edit at once.
  const metrics = async () => (await fetch(`${consoleUrl}/metrics`)).text();
  await shows(metrics, /^sluice_foreign_slice_writes_total\{cluster="west",controller="endpointslice"\} 1$/m);
  await admin.delete(reference('endpointslices', { namespace, name }));
  await shows(history, new RegExp(`EndpointSlice ${name} was deleted by another client`));
  await expect.poll(async () => (await slicesOf('edited')).length).toBe(1);
  await shows(
    () => explain('shop/edited'),
    new RegExp(`EndpointSlice ${name} was deleted by another client\\. Sluice repaired it at `),
  );
  await admin.patch(reference('endpoints', { namespace, name: 'edited' }), {
    subsets: [{ addresses: [{ ip: '10.9.9.9' }], ports: [{ port: 80 }] }],
  });
  await shows(history, 'Endpoints edited were modified by sluice-differential');
  const relabelled = await sliceOf('edited');
  const labels = { 'kubernetes.io/service-name': null };
  await admin.patch(reference('endpointslices', { namespace, name: relabelled }), { metadata: { labels } });
  await shows(history, `EndpointSlice ${relabelled} lost its label kubernetes.io/service-name`);
});

test('missing permissions: the user and the file that grants them, once', async () => {
  await kubectl(east.adminKubeconfig, ['delete', 'clusterrolebinding', 'sluice-writer']);
  try {
    const { status, output } = await sluice('run', '--kubeconfig', east.kubeconfigs.sluice, '--for', '5m');
    expect(status).toBe(2);
    expect(output.match(/does not allow user system:serviceaccount:sluice:sluice: .*rbac\.yaml/g)).toHaveLength(1);
    const doctor = (await sluice('doctor', '--kubeconfig', east.kubeconfigs.sluice)).output;
    expect(doctor.match(/kubectl apply -f infra\/kubernetes\/rbac\.yaml/g)).toHaveLength(1);
    expect(doctor).toContain('user system:serviceaccount:sluice:sluice lacks: get endpoints, create endpoints');
  } finally {
    const binding = ['create', 'clusterrolebinding', 'sluice-writer', '--clusterrole=sluice-writer'];
    await kubectl(east.adminKubeconfig, [...binding, '--serviceaccount=sluice:sluice']);
  }
});

test('doctor checks every cluster of a directory, under the names of the run', async () => {
  const { output } = await sluice('doctor', '--kubeconfig', kubeconfigs);
  for (const { name } of [west, east]) expect(output).toMatch(new RegExp(`^ok +cluster ${name} +version +v1`, 'm'));
});

/** The output of a command on a terminal of 60 columns, of which `script` is one. */
function onTerminal(...args: string[]): Promise<string> {
  const command = `stty cols 60; exec ${[program, ...args].map((arg) => `'${arg}'`).join(' ')}`;
  const env = { ...process.env, SLUICE_CONSOLE: consoleUrl, NO_COLOR: '1', TERM: 'dumb' };
  return new Promise((resolve) => {
    execFile('script', ['--quiet', '--return', '--command', command, '/dev/null'], { env }, (_, stdout) =>
      // A command that takes long shows a wait, and erases it.
      resolve(stripVTControlCharacters(stdout.replaceAll('\r\n', '\n')).replaceAll(/^.*\r/gm, '')),
    );
  });
}

test('a terminal of 60 columns: no line is longer, of results or of errors', async () => {
  await addService('narrow', { targetPort: 'htpp' });
  await addPod('narrow', 51);
  await expect.poll(() => explain('shop/narrow')).toContain('no reachable endpoints');
  const outputs = [
    await onTerminal('explain', 'shop/narrow'),
    await onTerminal('history', 'shop/narrow'),
    await onTerminal('parked', 'list'),
    await onTerminal('doctor', '--kubeconfig', kubeconfigs),
    await onTerminal('clusters', 'list', '--kubeconfig', kubeconfigs),
    await onTerminal('explain', 'shop/none'),
    await onTerminal('explain', 'shop/narrow', '--at', 'tomorrow at noon'),
    await onTerminal('run', '--shadow', '--namespaces', 'shop'),
    await onTerminal('explain', 'shop/narrow', '--an-option-that-does-not-exist', 'and-its-value'),
  ];
  expect(outputs.filter((output) => output.startsWith('error: '))).toHaveLength(4);
  for (const line of outputs.join('\n').split('\n')) {
    // A word stays whole, so that it can be copied.
    const isOneWord = !line.trim().includes(' ');
    if (!isOneWord) expect(line.length, line).toBeLessThanOrEqual(60);
  }
});

test('a time: the most recent one, and none in the future', async () => {
  const future = await sluice('explain', 'shop/flap', '--at', '2999-01-01T00:00');
  expect(future).toMatchObject({ status: 2, output: expect.stringContaining('is in the future') });
  const soon = new Date(Date.now() + 120_000);
  const text = `${String(soon.getHours()).padStart(2, '0')}:${String(soon.getMinutes()).padStart(2, '0')}`;
  // Yesterday at that time, before the history starts.
  expect(await sluice('explain', 'shop/flap', '--at', text)).toMatchObject({
    status: 1,
    output: expect.stringContaining('the history starts at'),
  });
});

test('a dead cluster: since when it has not answered, everywhere, and one log line', async () => {
  const eastAdmin = await ApiClient.open(east.adminKubeconfig);
  await eastAdmin.create('namespaces', namespaceObject(namespace));
  await eastAdmin.create(
    'services',
    serviceObject({ namespace, name: 'lone', spec: { selector: { app: 'lone' }, ports: [{ port: 80 }] } }),
  );
  await eastAdmin.close();
  await shows(() => explain('shop/lone'), 'Service shop/lone in east, now');
  const before = run.stderr.length;
  await east.processes.kubeApiserver.kill();
  const outage = /east has not answered since .* \(connection refused\); the state below is from that time/;
  await shows(() => explain('shop/lone'), outage);
  expect(await explain('shop/lone')).toMatch(/Service shop\/lone in east, as of \d/);
  expect(await clusters()).toContainEqual(
    expect.objectContaining({ name: 'east', state: 'not answering', outage: expect.anything() }),
  );
  const metrics = await (await fetch(`${consoleUrl}/metrics`)).text();
  expect(metrics).toContain('sluice_cluster_phase{cluster="east",phase="unavailable"} 1');
  expect(await explain('shop/flap')).toContain('Service shop/flap in west, now');
  const list = await sluice('clusters', 'list', '--kubeconfig', east.kubeconfigs.sluice);
  expect(list).toMatchObject({ status: 1, output: expect.stringContaining('unavailable') });
  // Many attempts have failed meanwhile.
  const warnings = run.stderr
    .slice(before)
    .split('\n')
    .filter((line) => /"level":"(warn|error)"/.test(line));
  expect(warnings).toEqual([expect.stringContaining('cluster not responding; retrying')]);
  await east.processes.kubeApiserver.start();
  await east.ready();
  await run.until(() => run.stderr.slice(before).includes('cluster responding again'), 'the cluster answers again');
  await shows(() => explain('shop/lone'), 'Service shop/lone in east, now');
});

test('a competing controller: named at the first conflicts, with how to disable it', async () => {
  await addService('contended');
  await addPod('contended', 41);
  const manager = await startKubeControllerManager(west, { serviceAccountCredentials: true });
  try {
    const named = () => /^(?=.*another controller writes the same objects).*kube-controller-manager/m.test(run.stderr);
    let ready = true;
    const contend = async () => {
      ready = !ready;
      await setReady('contended-41', '10.0.0.41', ready);
      return named();
    };
    await expect.poll(contend, { interval: 300 }).toBe(true);
    expect(run.stderr).toMatch(/add -endpoints-controller,\S+ to --controllers of kube-controller-manager/);
    const metrics = async () => (await fetch(`${consoleUrl}/metrics`)).text();
    await expect
      .poll(metrics)
      .toMatch(/sluice_competing_controller_plans_total\{cluster="west",controller="\w+"\} [1-9]/);
    await expect.poll(clusters).toContainEqual(expect.objectContaining({ competing: 'kube-controller-manager' }));
  } finally {
    await manager.stop();
  }
});
