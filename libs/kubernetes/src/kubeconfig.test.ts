import { chmod, writeFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import { afterEach, describe, expect, it, test } from 'vitest';
import { anonymousAccess, listContexts, loadInCluster, loadKubeconfig } from './kubeconfig.ts';
import { kubeconfigText, writeFiles } from './testing/fixtures.ts';

describe('kubeconfig', () => {
  const server = 'https://10.0.0.1:6443';
  const cleanups: (() => Promise<void>)[] = [];

  async function given(files: Readonly<Record<string, string>>) {
    const directory = await writeFiles(files);
    cleanups.push(directory.remove);
    return directory;
  }

  afterEach(async () => {
    for (const cleanup of cleanups.splice(0)) await cleanup();
  });

  async function rejected(promise: Promise<unknown>): Promise<{ readonly code: string; readonly message: string }> {
    const error: unknown = await promise.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (error instanceof Error && 'code' in error) return { code: String(error.code), message: error.message };
    throw new Error('expected a KubeconfigError');
  }

  async function optionsOf(access: Awaited<ReturnType<typeof loadKubeconfig>>): Promise<RequestOptions> {
    const options: RequestOptions = {};
    await (await access.open()).applyToHTTPSOptions(options);
    return options;
  }

  describe('loadKubeconfig', () => {
    it('takes the current context', async () => {
      const { file } = await given({ config: kubeconfigText({ server: `${server}/` }, { token: 'secret' }) });
      const access = await loadKubeconfig({ paths: [file('config')] });
      expect(access).toMatchObject({ context: 'test', server, source: `kubeconfig "${file('config')}"` });
      expect((await optionsOf(access)).headers).toEqual({ Authorization: 'Bearer secret' });
    });

    it('reads what kubectl writes', async () => {
      const config = `apiVersion: v1
clusters:
- cluster:
    server: https://10.0.0.1:6443 # with a comment
  name: kind-a
contexts:
- context: {cluster: kind-a, user: "kind-a"}
  name: kind-a
current-context: kind-a
kind: Config
preferences: {}
users:
- name: kind-a
  user:
    token: |
      0123
`;
      const { file } = await given({ config });
      const access = await loadKubeconfig({ paths: [file('config')] });
      expect(access).toMatchObject({ context: 'kind-a', server, proxyUrl: undefined });
      expect((await optionsOf(access)).headers).toEqual({ Authorization: 'Bearer 0123\n' });
    });

    it('merges several files: the first to say something wins, missing ones are passed over', async () => {
      const second = {
        contexts: [
          { name: 'test', context: { cluster: 'other' } },
          { name: 'more', context: { cluster: 'test', user: 'tester' } },
        ],
        clusters: [{ name: 'test', cluster: { server: 'https://wrong' } }],
      };
      const { file } = await given({ a: kubeconfigText({ server }), b: JSON.stringify(second) });
      const paths = [file('missing'), file('a'), file('b')];
      expect(await loadKubeconfig({ paths, context: 'more' })).toMatchObject({ context: 'more', server });
      expect(await listContexts(paths)).toEqual(['test', 'more']);
    });

    it('reads the token file, relative to the kubeconfig, at each open, and prefers it to a token', async () => {
      const user = { tokenFile: 'token', token: 'stale' };
      const { file } = await given({ config: kubeconfigText({ server }, user), token: 'one\n' });
      const access = await loadKubeconfig({ paths: [file('config')] });
      expect((await optionsOf(access)).headers).toEqual({ Authorization: 'Bearer one\n' });
      await writeFile(file('token'), 'two\n');
      expect((await optionsOf(access)).headers).toEqual({ Authorization: 'Bearer two\n' });
    });

    it('runs an exec plugin from beside the kubeconfig, and tells it the protocol', async () => {
      const plugin = `#!/bin/sh
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}' \
  "$(printf %s "$KUBERNETES_EXEC_INFO" | tr -dc 'a-zA-Z0-9./')"
`;
      const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin' };
      const { file } = await given({ config: kubeconfigText({ server }, { exec }), plugin });
      await chmod(file('plugin'), 0o755);
      const options = await optionsOf(await loadKubeconfig({ paths: [file('config')] }));
      expect(options.headers).toEqual({
        Authorization: 'Bearer apiVersionclient.authentication.k8s.io/v1kindExecCredentialspecinteractivefalse',
      });
    });

    it('accepts a context without a user, and a server without TLS', async () => {
      const text = JSON.stringify({
        'current-context': 'c',
        contexts: [{ name: 'c', context: { cluster: 'c' } }],
        clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:8001/prefix' } }],
      });
      const { file } = await given({ config: text });
      const access = await loadKubeconfig({ paths: [file('config')] });
      expect(access.server).toBe('http://127.0.0.1:8001/prefix');
      expect((await optionsOf(access)).headers).toEqual({});
    });
  });

  describe('loadKubeconfig refuses', () => {
    it('no file', async () => {
      expect((await rejected(loadKubeconfig({ paths: [] }))).code).toBe('KUBECONFIG_NOT_FOUND');
      const { code, message } = await rejected(loadKubeconfig({ paths: ['/nowhere/config'] }));
      expect(code).toBe('KUBECONFIG_NOT_FOUND');
      expect(message).toBe('kubeconfig "/nowhere/config" does not exist; pass an existing file with --kubeconfig');
    });

    it('a directory', async () => {
      const { directory } = await given({});
      const { code, message } = await rejected(loadKubeconfig({ paths: [directory] }));
      expect(code).toBe('KUBECONFIG_UNREADABLE');
      expect(message).toContain('it is a directory');
    });

    it.each([
      ['users:\n- name: a\n  user: {token: hunter2\n', 'it is not YAML'],
      ['a: hunter2\na: hunter2\n', 'it is not YAML: duplicated mapping key in line 2'],
      ['users:\n- user:\n    token: *hunter2\n', 'it is not YAML: unidentified alias in line 3'],
      ['users:\n- user:\n    password: !hunter2\n', 'it is not YAML: unknown scalar tag in line 3'],
      [
        'users:\n- user:\n    password: !hunter2<\n',
        'it is not YAML: tag name cannot contain such characters in line 3',
      ],
      ['users:\n- user:\n    password: !hunter2!x y\n', 'it is not YAML: undeclared tag handle in line 3'],
      ['users:\n- user:\n    password: !hunter2{} y\n', 'it is not YAML'],
      ['hunter2', 'it is not a kubeconfig'],
      ['\n', 'it is empty'],
      ['apiVersion: v1\nkind: Secret\ndata: {token: hunter2}\n', 'it is not a kubeconfig'],
      ['\u0000\u0001hunter2', 'it is not YAML'],
    ])('%j without quoting its content', async (text, why) => {
      const { file } = await given({ config: text });
      const { code, message } = await rejected(loadKubeconfig({ paths: [file('config')] }));
      expect(code).toBe('KUBECONFIG_MALFORMED');
      expect(message).toContain(`kubeconfig "${file('config')}" cannot be used: ${why}`);
      expect(message).not.toContain('hunter2');
    });

    it('a context that is not there, and lists those that are', async () => {
      const { file } = await given({ config: kubeconfigText({ server }) });
      const { code, message } = await rejected(loadKubeconfig({ paths: [file('config')], context: 'prod' }));
      expect(code).toBe('KUBECONFIG_NO_CONTEXT');
      expect(message).toContain('has no context "prod"; choose one with --context: test');
    });

    it('no current context', async () => {
      const { file } = await given({ config: JSON.stringify({ clusters: [], contexts: [] }) });
      const { code, message } = await rejected(loadKubeconfig({ paths: [file('config')] }));
      expect(code).toBe('KUBECONFIG_NO_CONTEXT');
      expect(message).toContain('sets no current-context; it has no contexts; add one');
    });

    it.each([
      [{ contexts: [{ name: 'c', context: { user: 'u' } }] }, 'it names no cluster'],
      [{ contexts: [{ name: 'c', context: { cluster: 'x' } }] }, 'its cluster "x" does not exist'],
      [
        { contexts: [{ name: 'c', context: { cluster: 'x' } }], clusters: [{ name: 'x', cluster: {} }] },
        'its cluster "x" has no server',
      ],
      [
        {
          contexts: [{ name: 'c', context: { cluster: 'x' } }],
          clusters: [{ name: 'x', cluster: { server: 'ftp://user:hunter2@a' } }],
        },
        'is not an http or https URL',
      ],
      [
        {
          contexts: [{ name: 'c', context: { cluster: 'x', user: 'u' } }],
          clusters: [{ name: 'x', cluster: { server } }],
        },
        'its user "u" does not exist',
      ],
      [
        {
          contexts: [{ name: 'c', context: { cluster: 'x' } }],
          clusters: [{ name: 'x', cluster: { server, 'proxy-url': 'socks5://hunter2@proxy' } }],
        },
        'only http and https proxies are supported',
      ],
    ])('an incomplete one: %j', async (entries, why) => {
      const { file } = await given({ config: JSON.stringify({ 'current-context': 'c', ...entries }) });
      const { code, message } = await rejected(loadKubeconfig({ paths: [file('config')] }));
      expect(code).toBe('KUBECONFIG_INCOMPLETE');
      expect(message).toContain(`context "c" of kubeconfig "${file('config')}" cannot be used: `);
      expect(message).toContain(why);
      expect(message).not.toContain('hunter2');
    });

    it.each([
      [{ 'certificate-authority': 'gone' }, {}, 'certificate authority of cluster "test"'],
      [{}, { 'client-certificate': 'gone' }, 'client certificate of user "tester"'],
      [{}, { 'client-key': 'gone' }, 'client key of user "tester"'],
      [{}, { tokenFile: 'gone' }, 'token of user "tester"'],
    ])('a file that it names and that is missing: %j %j', async (cluster, user, what) => {
      const { file } = await given({ config: kubeconfigText({ server, ...cluster }, user) });
      const { code, message } = await rejected(loadKubeconfig({ paths: [file('config')] }));
      expect(code).toBe('KUBECONFIG_FILE_MISSING');
      expect(message).toContain(
        `the ${what} in kubeconfig "${file('config')}" cannot be read: "${file('gone')}" (ENOENT)`,
      );
    });
  });

  describe('several kubeconfigs', () => {
    const config = (entries: object) => JSON.stringify(entries);
    const one = {
      contexts: [{ name: 'one', context: { cluster: 'c' } }],
      clusters: [{ name: 'c', cluster: { server } }],
    };

    it('may be empty or only set the current context, but one alone may not', async () => {
      const { file } = await given({ current: config({ 'current-context': 'one' }), empty: ' ', one: config(one) });
      const paths = [file('current'), file('empty'), file('one')];
      expect(await loadKubeconfig({ paths })).toMatchObject({ context: 'one' });
      for (const name of ['current', 'empty'])
        expect((await rejected(loadKubeconfig({ paths: [file(name)] }))).code).toBe('KUBECONFIG_MALFORMED');
    });

    it('are named in messages, without those that do not exist', async () => {
      const { file } = await given({ a: config({ contexts: [] }), b: config(one) });
      const access = await loadKubeconfig({ paths: [file('gone'), file('a'), file('b')], context: 'one' });
      expect(access.source).toBe(`kubeconfig "${file('a')}", "${file('b')}"`);
      const { message } = await rejected(loadKubeconfig({ paths: [file('gone'), file('other')] }));
      expect(message).toContain(`"${file('gone')}", "${file('other')}"`);
    });

    it('must exist as files below directories', async () => {
      const { file } = await given({ one: config(one) });
      expect((await rejected(loadKubeconfig({ paths: [`${file('one')}/config`] }))).code).toBe('KUBECONFIG_NOT_FOUND');
    });

    it('can be incomplete, which any of them may be', async () => {
      const context = (name: string) => ({ contexts: [{ name, context: {} }] });
      const { file } = await given({ a: config(context('a')), b: config(context('b')) });
      for (const name of ['a', 'b']) {
        const { message } = await rejected(loadKubeconfig({ paths: [file('a'), file('b')], context: name }));
        expect(message).toContain('it names no cluster');
      }
    });

    it('list their contexts in order to choose one of them', async () => {
      const contexts = ['b', 'a'].map((name) => ({ name, context: { cluster: 'c' } }));
      const { file } = await given({ config: config({ contexts }) });
      const { message } = await rejected(loadKubeconfig({ paths: [file('config')] }));
      expect(message).toContain('sets no current-context; choose one with --context: a, b');
    });
  });

  describe('the token of an auth-provider', () => {
    it('must be readable if it is in a file', async () => {
      const provider = { name: 'oidc', config: { tokenFile: '/nowhere/token' } };
      const { file } = await given({ config: kubeconfigText({ server }, { 'auth-provider': provider }) });
      const { code, message } = await rejected(loadKubeconfig({ paths: [file('config')] }));
      expect(code).toBe('KUBECONFIG_FILE_MISSING');
      expect(message).toContain('token of user "tester"');
    });
  });

  describe('a kubeconfig that changed', () => {
    it('is read again at each open, with the context that was selected', async () => {
      const { file } = await given({ config: kubeconfigText({ server }, { token: 'one' }) });
      const access = await loadKubeconfig({ paths: [file('config')] });
      const changed = JSON.parse(kubeconfigText({ server }, { token: 'two' }));
      await writeFile(file('config'), JSON.stringify({ ...changed, 'current-context': 'other' }));
      expect((await optionsOf(access)).headers).toEqual({ Authorization: 'Bearer two' });
      await writeFile(file('config'), '');
      await expect(access.open()).rejects.toMatchObject({ code: 'KUBECONFIG_MALFORMED' });
    });
  });

  describe('loadInCluster', () => {
    it('uses the mounted service account', async () => {
      const { directory } = await given({ token: 'mounted', 'ca.crt': '-----BEGIN CERTIFICATE-----' });
      const access = await loadInCluster({ host: 'fd00::1', port: '443', directory });
      expect(access).toMatchObject({ context: 'in-cluster', server: 'https://[fd00::1]:443' });
      expect((await optionsOf(access)).headers).toEqual({ Authorization: 'Bearer mounted' });
    });

    it('trusts the authority of the service account, and knows an IPv4 address', async () => {
      const { directory } = await given({ token: 'mounted', 'ca.crt': 'authority' });
      const access = await loadInCluster({ host: '10.0.0.1', port: '6443', directory });
      expect(access).toMatchObject({ server: 'https://10.0.0.1:6443', proxyUrl: undefined });
      expect(access.source).toContain(directory);
      const options = await optionsOf(access);
      expect(options).toMatchObject({ ca: Buffer.from('authority') });
      expect(options).not.toHaveProperty('rejectUnauthorized');
    });

    it.each([
      { host: '', port: '443' },
      { host: 'h', port: '' },
    ])('needs an address: %j', async (address) => {
      const { directory } = await given({ token: 'mounted', 'ca.crt': 'authority' });
      expect((await rejected(loadInCluster({ ...address, directory }))).code).toBe('KUBECONFIG_NOT_FOUND');
    });

    it('says so where there is none', async () => {
      const { directory } = await given({});
      expect(await rejected(loadInCluster({ host: '', port: '' }))).toMatchObject({ code: 'KUBECONFIG_NOT_FOUND' });
      expect(await rejected(loadInCluster({ host: 'h', port: '1', directory }))).toMatchObject({
        code: 'KUBECONFIG_FILE_MISSING',
      });
    });
  });
});

test('anonymous access sends no credentials to the address', async () => {
  const access = anonymousAccess('http://127.0.0.1:8001/', 'fake');
  expect(access).toMatchObject({ context: 'fake', server: 'http://127.0.0.1:8001', proxyUrl: undefined });
  expect(access.source).toContain('http://127.0.0.1:8001/');
  const options = {};
  await (await access.open()).applyToHTTPSOptions(options);
  expect(options).toEqual({});
});

test('a path of the address is kept', () => {
  expect(anonymousAccess('http://127.0.0.1/clusters/a', 'fake').server).toBe('http://127.0.0.1/clusters/a');
});
