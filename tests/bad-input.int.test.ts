import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ApiClient,
  namespaceObject,
  podObject,
  podStatus,
  reference,
  SluiceProcess,
  serviceObject,
} from '@sluice/conformance';
import { type ControlPlane, kubectl, startControlPlane } from '@sluice/local';
import { listAt, textAt } from '@sluice/shadow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = mkdtempSync(join(tmpdir(), 'sluice-bad-input-'));
const namespace = 'shop';
let cluster: ControlPlane;
let admin: ApiClient;
/** The kubeconfig of `sluice`; tests write broken copies of it. */
let kubeconfig = '';

beforeAll(async () => {
  cluster = await startControlPlane({ directory: join(root, 'cluster'), name: 'local', authorization: 'RBAC' });
  admin = await ApiClient.open(cluster.adminKubeconfig);
  kubeconfig = readFileSync(cluster.kubeconfigs.sluice, 'utf8');
  await admin.create('namespaces', namespaceObject(namespace));
});

afterAll(async () => {
  await admin?.close();
  await cluster?.stop();
  rmSync(root, { recursive: true, force: true });
});

function spoilt(text: string): string {
  const file = join(root, 'spoilt.kubeconfig');
  writeFileSync(file, text);
  return file;
}

/**
 * Runs a start that must fail: status 2, nothing on standard output and one line on standard error, which is returned.
 */
async function refusal(...args: string[]): Promise<string> {
  const sluice = new SluiceProcess(args);
  const status = await sluice.ended();
  expect({ status, stdout: sluice.lines }).toEqual({ status: 2, stdout: [] });
  expect(sluice.stderr.trimEnd().split('\n')).toHaveLength(1);
  return sluice.stderr;
}

describe('at startup, one line and exit status 2', () => {
  it('for a missing or invalid kubeconfig', async () => {
    expect(await refusal('--kubeconfig', '/nowhere/config')).toMatch(
      /"\/nowhere\/config" does not exist.*--kubeconfig/,
    );
    expect(await refusal('--kubeconfig', spoilt('just a text'))).toMatch(/cannot be used/);
  });

  it('for an unknown context', async () => {
    const said = await refusal('--kubeconfig', cluster.kubeconfigs.sluice, '--context', 'elsewhere');
    expect(said).toMatch(/has no context "elsewhere"; choose one with --context: sluice@local/);
  });

  it('for a server that is down', async () => {
    const file = spoilt(kubeconfig.replaceAll(cluster.url, 'https://127.0.0.1:1'));
    expect(await refusal('--kubeconfig', file)).toMatch(
      /cannot use cluster sluice@local.*refused.*check that the API server is running/,
    );
  });

  it('for a server with an untrusted certificate', async () => {
    const vouched = /"certificate-authority-data": "[^"]+"/;
    expect(kubeconfig).toMatch(vouched);
    const file = spoilt(kubeconfig.replace(vouched, '"insecure-skip-tls-verify": false'));
    expect(await refusal('--kubeconfig', file)).toMatch(/cannot trust .*certificate-authority/);
  });

  it('for a rejected token', async () => {
    const token = /"token": "([^"]+)"/.exec(kubeconfig)?.[1] ?? '';
    expect(token).not.toBe('');
    const said = await refusal('--kubeconfig', spoilt(kubeconfig.replaceAll(token, 'wrong')));
    expect(said).toMatch(/rejected the token.*log in again/);
    expect(said).not.toContain('wrong');
  });

  it('for missing permissions, which are all named', async () => {
    await kubectl(cluster.adminKubeconfig, ['delete', 'clusterrolebinding', 'sluice-writer']);
    const said = await refusal('--kubeconfig', cluster.kubeconfigs.sluice);
    expect(said).toMatch(
      /does not allow user system:serviceaccount:sluice:sluice: get, create, update, delete on endpoints; get, create, update, delete on endpointslices/,
    );
    expect(said).toMatch(/grant these/);
    const binding = ['create', 'clusterrolebinding', 'sluice-writer', '--clusterrole=sluice-writer'];
    await kubectl(cluster.adminKubeconfig, [...binding, '--serviceaccount=sluice:sluice']);
  });
});

describe('while running', () => {
  const web = { namespace, name: 'web' };
  const since = '2026-01-01T00:00:00Z';

  const addresses = async () => {
    const slices = await admin.list('endpointslices');
    return slices.flatMap((slice) => listAt(slice, 'endpoints').flatMap((endpoint) => listAt(endpoint, 'addresses')));
  };

  async function addPod(name: string, ip: string): Promise<void> {
    await admin.create('pods', podObject({ namespace, name, labels: { app: 'web' }, nodeName: 'node-1' }));
    const status = podStatus({ phase: 'Running', ips: [ip], ready: true, since });
    await admin.patch(reference('pods', { namespace, name }), status, 'status');
  }

  it('reports an API server that is down, retries, and catches up', async () => {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } };
    await admin.create('nodes', node);
    const spec = { selector: { app: 'web' }, ports: [{ port: 80 }] };
    await admin.create('services', serviceObject({ ...web, spec }));
    await addPod('web-1', '10.0.0.1');
    const sluice = await SluiceProcess.start(cluster.kubeconfigs.sluice);
    try {
      await expect.poll(addresses).toEqual(['10.0.0.1']);
      const before = sluice.stderr.length;
      await cluster.processes.kubeApiserver.kill();
      await sluice.until(() => /connection refused/.test(sluice.stderr.slice(before)), 'the error is logged');
      await cluster.processes.kubeApiserver.start();
      await cluster.ready();
      await addPod('web-2', '10.0.0.2');
      await admin.delete(reference('pods', { namespace, name: 'web-1' }));
      await expect.poll(addresses).toEqual(['10.0.0.2']);
      expect(await sluice.stop()).toBe(0);
    } finally {
      await sluice.kill();
    }
  });

  it('accepts names and labels of maximum length', async () => {
    const [longest, key] = [
      'n'.repeat(63),
      `${'d'.repeat(61)}.${'e'.repeat(63)}.${'f'.repeat(63)}.${'g'.repeat(63)}/${'k'.repeat(63)}`,
    ];
    const labels = { [key]: 'v'.repeat(63) };
    const place = { namespace: longest, name: longest };
    await admin.create('namespaces', namespaceObject(longest));
    const sluice = await SluiceProcess.start(cluster.kubeconfigs.sluice);
    try {
      await admin.create('services', serviceObject({ ...place, spec: { selector: labels, ports: [{ port: 80 }] } }));
      const name = `${'p'.repeat(63)}.${'q'.repeat(63)}.${'r'.repeat(63)}.${'s'.repeat(61)}`;
      await admin.create('pods', podObject({ namespace: longest, name, labels, nodeName: 'node-1' }));
      const status = podStatus({ phase: 'Running', ips: ['10.9.9.9'], ready: true, since });
      await admin.patch(reference('pods', { namespace: longest, name }), status, 'status');
      await expect.poll(addresses).toContain('10.9.9.9');
      const refused = sluice.events('plan').filter((plan) => textAt(plan, 'status') === 'rejected');
      expect(refused).toEqual([]);
      expect(await sluice.stop()).toBe(0);
    } finally {
      await sluice.kill();
    }
  });

  it('drains on SIGTERM: pending changes are written and the summary is printed', async () => {
    const sluice = await SluiceProcess.start(cluster.kubeconfigs.sluice);
    try {
      await addPod('web-3', '10.0.0.3');
      await expect.poll(addresses).toContain('10.0.0.3');
      expect(await sluice.stop()).toBe(0);
      const plans = sluice.events('plan').filter((plan) => textAt(plan, 'service') === 'web');
      expect(plans.length).toBeGreaterThan(0);
      expect(sluice.events('summary')).toHaveLength(1);
    } finally {
      await sluice.kill();
    }
  });

  it('survives the loss of a permission and continues when it is granted again', async () => {
    const sluice = await SluiceProcess.start(cluster.kubeconfigs.sluice);
    try {
      await kubectl(cluster.adminKubeconfig, ['delete', 'clusterrolebinding', 'sluice-writer']);
      await addPod('web-4', '10.0.0.4');
      await sluice.until(() => /pausing writes.*does not permit/.test(sluice.stderr), 'the writes are paused');
      const refused = () => sluice.events('plan').some((plan) => /forbidden/.test(textAt(plan, 'message')));
      expect(refused()).toBe(true);
      const binding = ['create', 'clusterrolebinding', 'sluice-writer', '--clusterrole=sluice-writer'];
      await kubectl(cluster.adminKubeconfig, [...binding, '--serviceaccount=sluice:sluice']);
      await sluice.until(() => /resuming writes.*permits them again/.test(sluice.stderr), 'the writes resume');
      // Nothing else changes: the Service that was rejected does not wait for its next change.
      await expect.poll(addresses).toEqual(expect.arrayContaining(['10.0.0.4']));
      expect(await sluice.stop()).toBe(0);
    } finally {
      await sluice.kill();
    }
  });
});
