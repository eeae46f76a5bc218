import type { RequestOptions } from 'node:https';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ClusterAccess, loadInCluster, loadKubeconfig } from './kubeconfig.ts';
import { kubeconfigText, writeFiles } from './testing/fixtures.ts';

const client = vi.hoisted(() => ({ loaded: false }));
vi.mock('@kubernetes/client-node', async (original) => {
  client.loaded = true;
  return original();
});

const server = 'https://10.0.0.1:6443';
const cleanups: (() => Promise<void>)[] = [];

// Tests of other files may have loaded client-node.
beforeAll(() => void vi.resetModules());

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function headersOf(access: ClusterAccess): Promise<unknown> {
  const options: RequestOptions = {};
  await (await access.open()).applyToHTTPSOptions(options);
  return options.headers;
}

async function access(user: object): Promise<ClusterAccess> {
  const files = await writeFiles({ config: kubeconfigText({ server }, user), token: 'in file' });
  cleanups.push(files.remove);
  return loadKubeconfig({ paths: [files.file('config')] });
}

describe('client-node', () => {
  it('is loaded for none but users with a plugin', async () => {
    const provider = { name: 'gcp', config: { 'access-token': 'from provider' } };
    expect(await headersOf(await access({ token: 'plain', as: 'someone' }))).toEqual({
      Authorization: 'Bearer plain',
      'Impersonate-User': 'someone',
    });
    const files = await writeFiles({ token: 'mounted', 'ca.crt': '' });
    cleanups.push(files.remove);
    const pod = await loadInCluster({ host: 'h', port: '1', directory: files.directory });
    expect(await headersOf(pod)).toEqual({ Authorization: 'Bearer mounted' });
    expect(await headersOf(await access({ tokenFile: 'token', 'auth-provider': provider }))).toEqual({
      Authorization: 'Bearer in file',
    });
    expect(client.loaded).toBe(false);
    expect(await headersOf(await access({ 'auth-provider': provider }))).toEqual({
      Authorization: 'Bearer from provider',
    });
    expect(client.loaded).toBe(true);
  });

  it('runs a plugin rather than read a token file', async () => {
    const status = JSON.stringify({ kind: 'ExecCredential', status: { token: 'from plugin' } });
    const exec = { command: '/bin/sh', args: ['-c', `echo '${status}'`] };
    expect(await headersOf(await access({ exec, tokenFile: 'token' }))).toEqual({
      Authorization: 'Bearer from plugin',
    });
    // As ever: a token in the kubeconfig goes before what the plugin gives.
    expect(await headersOf(await access({ exec, token: 'plain' }))).toEqual({ Authorization: 'Bearer plain' });
  });

  it('does not repeat what it gives a plugin when that fails', async () => {
    const args = ['-c', 'echo "cannot log in with $CREDENTIAL and $1" >&2; exit 1', 'login', 'argument2'];
    const env = [{ name: 'CREDENTIAL', value: 'variable/3' }];
    const failing = headersOf(await access({ exec: { command: '/bin/sh', args, env } }));
    await expect(failing).rejects.toThrow('cannot log in with *** and ***');
  });
});
