import { writeFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Authenticator, plainAuthenticator } from './authenticator.ts';
import type { KubeconfigCluster, KubeconfigUser } from './kubeconfig-entries.ts';
import { pluginAuthenticator } from './plugin-authenticator.ts';
import { writeFiles } from './testing/fixtures.ts';

const testdata = (name: string) => path.join(import.meta.dirname, 'testdata', name);
const data = (text: string) => Buffer.from(text).toString('base64');
const cluster: KubeconfigCluster = { name: 'c', server: 'https://10.0.0.1:6443', skipTLSVerify: false };
const user: KubeconfigUser = { name: 'u' };
const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

async function apply(authenticator: Authenticator): Promise<RequestOptions> {
  const options: RequestOptions = {};
  await authenticator.applyToHTTPSOptions(options);
  delete options.agent;
  return options;
}

describe('plainAuthenticator', () => {
  it.each<[Partial<KubeconfigCluster>, Partial<KubeconfigUser>]>([
    [{}, {}],
    [{}, { token: 't' }],
    [{}, { impersonateUser: 'someone', token: 't' }],
    [{}, { username: 'a', password: 'b' }],
    [{}, { username: 'a', password: 'b', token: 't' }],
    [{}, { certFile: testdata('client.crt'), keyFile: testdata('client.key') }],
    [{}, { certData: data('certificate'), keyData: data('key') }],
    [{}, { certFile: testdata('client.crt'), certData: data('certificate') }],
    [{ caFile: testdata('ca.crt') }, {}],
    [{ caData: data('authority'), tlsServerName: 'name' }, {}],
    [{ caFile: testdata('ca.crt'), caData: data('authority'), skipTLSVerify: true }, { token: 't' }],
  ])('does what client-node does: %j %j', async (ofCluster, ofUser) => {
    const both = [
      { ...cluster, ...ofCluster },
      { ...user, ...ofUser },
    ] as const;
    expect(await apply(plainAuthenticator(...both))).toEqual(await apply(pluginAuthenticator(...both)));
  });

  it('sends an empty password where there is none', async () => {
    expect((await apply(plainAuthenticator(cluster, { ...user, username: 'a' }))).auth).toBe('a:');
  });

  it('reads its files each time', async () => {
    const files = await writeFiles({ ca: 'ca 1', crt: 'crt 1', key: 'key 1', token: 'token 1' });
    cleanups.push(files.remove);
    const authenticator = plainAuthenticator(
      { ...cluster, caFile: files.file('ca') },
      { ...user, certFile: files.file('crt'), keyFile: files.file('key'), tokenFile: files.file('token') },
    );
    const expected = (n: number) => ({
      ca: Buffer.from(`ca ${n}`),
      cert: Buffer.from(`crt ${n}`),
      key: Buffer.from(`key ${n}`),
      headers: { Authorization: `Bearer token ${n}` },
    });
    expect(await apply(authenticator)).toEqual(expected(1));
    for (const name of ['ca', 'crt', 'key', 'token']) await writeFile(files.file(name), `${name} 2`);
    expect(await apply(authenticator)).toEqual(expected(2));
  });

  it('sends no token from an empty file, and fails without the file', async () => {
    const files = await writeFiles({ token: '' });
    cleanups.push(files.remove);
    const authenticator = plainAuthenticator(cluster, { ...user, tokenFile: files.file('token') });
    expect((await apply(authenticator)).headers).toEqual({});
    await files.remove();
    await expect(apply(authenticator)).rejects.toThrow('ENOENT');
  });
});
