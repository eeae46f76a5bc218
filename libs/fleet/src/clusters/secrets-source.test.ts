import type { ApiRequest } from '@sluice/kubernetes';
import { beforeEach, describe, expect, test } from 'vitest';
import { kubeconfigText, type TextOptions } from '../testing/kubeconfig-text.ts';
import { secretsSource } from './secrets-source.ts';

let requests: ApiRequest[];
let response: unknown;
const signal = new AbortController().signal;

const source = secretsSource({
  connection: {
    server: 'https://management',
    request: async (request) => {
      requests.push(request);
      return { status: 200, headers: {}, body: response };
    },
  },
  namespace: 'fleet',
  selector: 'sluice.io/cluster in (a, b)',
});

const base64 = (text: string) => Buffer.from(text).toString('base64');
const secret = (name: string, data: Readonly<Record<string, string>>) => ({
  ...{ metadata: { name, namespace: 'fleet' } },
  data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64(text)])),
});
const server = 'https://127.0.0.1:1';
const valid = (name: string, options: TextOptions = {}) =>
  secret(name, { kubeconfig: kubeconfigText({ server, ...options }) });

function givenSecrets(...items: readonly unknown[]): void {
  response = { kind: 'SecretList', items };
}

async function only() {
  const { candidates } = await source.read(signal);
  const [candidate] = candidates;
  if (candidate === undefined || candidates.length > 1) throw new Error(`${candidates.length} candidates`);
  return candidate;
}

beforeEach(() => {
  requests = [];
  givenSecrets();
});

test('lists the Secrets of the namespace that match the selector', async () => {
  await source.read(signal);
  expect(requests).toHaveLength(1);
  const url = new URL(requests[0]?.path ?? '', 'https://management');
  expect(url.pathname).toBe('/api/v1/namespaces/fleet/secrets');
  expect([...url.searchParams]).toEqual([['labelSelector', 'sluice.io/cluster in (a, b)']]);
});

test.each(['kubeconfig', 'value', 'config'])(
  'a kubeconfig under the key %s is a cluster named after its Secret',
  async (key) => {
    givenSecrets(secret('prod', { [key]: kubeconfigText({ server: 'https://prod' }), note: 'x' }));
    const candidate = await only();
    expect(candidate).toMatchObject({ name: 'prod', from: 'Secret fleet/prod' });
    expect(await candidate.load()).toMatchObject({ server: 'https://prod', source: 'Secret fleet/prod' });
  },
);

test('reflects added, changed and removed Secrets', async () => {
  const found = async () => (await source.read(signal)).candidates.map(({ name, fingerprint }) => [name, fingerprint]);
  givenSecrets(valid('a'), valid('b'));
  const [a, b] = await found();
  expect([a?.[0], b?.[0]]).toEqual(['a', 'b']);
  givenSecrets(valid('a', { user: { token: 'another' } }), valid('b'));
  const [changed, same] = await found();
  expect(changed?.[1]).not.toBe(a?.[1]);
  expect(same).toEqual(b);
  givenSecrets(valid('b'));
  expect(await found()).toEqual([b]);
});

test('a Secret without a kubeconfig is reported and hides no other', async () => {
  givenSecrets(secret('empty', { kubeconfig: '' }), { metadata: { name: 'bare' } }, valid('good'));
  const { candidates, problems } = await source.read(signal);
  expect(candidates.map(({ name }) => name)).toEqual(['good']);
  expect(problems.map(({ from }) => from)).toEqual(['Secret fleet/empty', 'Secret fleet/bare']);
  expect(problems[0]?.reason).toContain('expected one of the keys kubeconfig, value, config');
});

test('an invalid kubeconfig is reported when loaded, without its content', async () => {
  givenSecrets(secret('notes', { config: 'password: *hunter2' }));
  const error = await (await only()).load().catch((reason: unknown) => reason);
  expect(String(error)).toContain('Secret fleet/notes');
  expect(String(error)).not.toContain('hunter2');
});

describe('a kubeconfig from a Secret cannot use', () => {
  test.each<[string, TextOptions]>([
    ['an exec plugin', { user: { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: 'touch' } } }],
    ['an auth-provider', { user: { 'auth-provider': { name: 'gcp', config: { 'cmd-path': 'touch' } } } }],
    ['a path as tokenFile', { user: { token: 'given', tokenFile: '/var/run/secrets/token' } }],
    [
      'a path as client-certificate',
      { user: { 'client-certificate': '/etc/tls.crt', 'client-certificate-data': 'eA==' } },
    ],
    ['a path as client-key', { user: { 'client-key': 'tls.key' } }],
    ['a path as certificate-authority', { cluster: { 'certificate-authority': '/etc/ca.crt' } }],
  ])('%s', async (what, options) => {
    givenSecrets(valid('prod', options));
    await expect((await only()).load()).rejects.toMatchObject({
      code: 'KUBECONFIG_NOT_SELF_CONTAINED',
      message: expect.stringContaining(`Secret fleet/prod names ${what}`),
    });
  });

  test('other contexts than the current one are ignored', async () => {
    const text = JSON.parse(kubeconfigText({ server }));
    text.users.push({ name: 'other', user: { tokenFile: '/token' } });
    text.contexts.push({ name: 'other', context: { cluster: 'one', user: 'other' } });
    givenSecrets(secret('prod', { kubeconfig: JSON.stringify(text) }));
    expect((await (await only()).load()).context).toBe('test');
  });
});

test('a server without TLS is rejected, so that a Secret cannot point at an internal HTTP service', async () => {
  givenSecrets(valid('prod', { server: 'http://user:hunter2@169.254.169.254/latest' }));
  const error = await (await only()).load().catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: 'KUBECONFIG_NOT_ENCRYPTED',
    message: expect.stringContaining('Secret fleet/prod'),
  });
  expect(String(error)).not.toMatch(/hunter2|169/);
});

test.each([undefined, [], {}, { kind: 'Status', status: 'Success' }, { items: null }])(
  'a response that is not a list is an error: %j',
  async (body) => {
    response = body;
    await expect(source.read(signal)).rejects.toThrow('not a list of Secrets');
  },
);
