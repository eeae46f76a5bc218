import type { RequestOptions } from 'node:https';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  defaultKubeconfigs,
  defaultNamespace,
  hasDefaultCluster,
  type KubeconfigEnvironment,
  loadDefault,
} from './default-kubeconfigs.ts';
import { writeFiles } from './testing/fixtures.ts';

const config = (currentContext: string, clusters: object, contexts: object, users: object) => {
  const named = (kind: string, entries: object) =>
    Object.entries(entries).map(([name, entry]) => ({ name, [kind]: entry }));
  return JSON.stringify({
    'current-context': currentContext,
    clusters: named('cluster', clusters),
    contexts: named('context', contexts),
    users: named('user', users),
  });
};

const a = config('', { x: { server: 'https://a:1' } }, { one: { cluster: 'x', user: 'u' } }, { u: { token: 'ta' } });
const b = config(
  'two',
  { x: { server: 'https://b:1' }, other: { server: 'https://other:1' } },
  { one: { cluster: 'other', user: 'u' }, two: { cluster: 'other', user: 'v' } },
  { u: { token: 'tb' }, v: { token: 'tv' } },
);

let files: Awaited<ReturnType<typeof writeFiles>>;
let home: Awaited<ReturnType<typeof writeFiles>>;

beforeEach(async () => {
  files = await writeFiles({ a, b, current: 'current-context: one\n', empty: '', bad: '{ bad: [' });
  home = await writeFiles({});
});

afterEach(async () => {
  await files.remove();
  await home.remove();
});

const list = (names: string) =>
  names
    .split(':')
    .map((name) => (name === '' ? '' : files.file(name)))
    .join(delimiter);

async function loaded(environment: KubeconfigEnvironment, context?: string): Promise<readonly unknown[]> {
  const access = await loadDefault(context, environment);
  const options: RequestOptions = {};
  await (await access.open()).applyToHTTPSOptions(options);
  return [access.server, (options.headers as Record<string, string>).Authorization?.replace('Bearer ', '')];
}

// What a program with client-go 1.36.3 prints for the same files.
describe('$KUBECONFIG selects what client-go selects', () => {
  test.each<[string, string | undefined, readonly unknown[]]>([
    ['a:b', undefined, ['https://other:1', 'tv']],
    ['b:a', undefined, ['https://other:1', 'tv']],
    ['a:b', 'one', ['https://a:1', 'ta']],
    ['b:a', 'one', ['https://other:1', 'tb']],
    [':a::b:', undefined, ['https://other:1', 'tv']],
    ['gone:b', undefined, ['https://other:1', 'tv']],
    ['current:a', undefined, ['https://a:1', 'ta']],
    ['current:a:b', undefined, ['https://a:1', 'ta']],
    ['empty:b', undefined, ['https://other:1', 'tv']],
    ['a:a', 'one', ['https://a:1', 'ta']],
  ])('%s, context %s', async (names, context, expected) => {
    expect(await loaded({ HOME: home.directory, KUBECONFIG: list(names) }, context)).toEqual(expected);
  });

  test.each([
    ['bad:b', 'KUBECONFIG_MALFORMED'],
    ['b:bad', 'KUBECONFIG_MALFORMED'],
    ['gone', 'KUBECONFIG_NOT_FOUND'],
    ['current:empty', 'KUBECONFIG_NO_CONTEXT'],
  ])('%s is rejected', async (names, code) => {
    await expect(loaded({ HOME: home.directory, KUBECONFIG: list(names) })).rejects.toMatchObject({ code });
  });
});

test('the namespace is that of the current context, or default', async () => {
  const context = (namespace: string) =>
    `{current-context: a, clusters: [{name: a, cluster: {server: 'https://a'}}], contexts: [{name: a, context: {cluster: a${namespace}}}]}`;
  const files = await writeFiles({ shop: context(', namespace: shop'), none: context(''), bad: '[' });
  const namespaceIn = (name: string) => defaultNamespace({ KUBECONFIG: join(files.directory, name) });
  expect(await Promise.all(['shop', 'none', 'bad', 'gone'].map(namespaceIn))).toEqual([
    ...['shop', 'default', undefined, undefined],
  ]);
  await files.remove();
});

test('without $KUBECONFIG, the file in the home directory', () => {
  expect(defaultKubeconfigs({ HOME: '/h' })).toEqual([join('/h', '.kube', 'config')]);
  expect(defaultKubeconfigs({ HOME: '/h', KUBECONFIG: '' })).toEqual([join('/h', '.kube', 'config')]);
  expect(defaultKubeconfigs({ HOME: '/h', KUBECONFIG: ['/a', '/b', '/a'].join(delimiter) })).toEqual(['/a', '/b']);
});

describe('in a Pod', () => {
  const pod = () => ({ HOME: home.directory, KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' });

  test('without a kubeconfig, its service account', async () => {
    const account = await writeFiles({ token: 't', 'ca.crt': '-----BEGIN CERTIFICATE-----' });
    expect(await loadDefault(undefined, pod(), account.directory)).toMatchObject({ server: 'https://10.0.0.1:443' });
    await account.remove();
  });

  test('is a cluster to be found', () => {
    expect(hasDefaultCluster(pod())).toBe(true);
    expect(hasDefaultCluster({ HOME: home.directory, KUBERNETES_SERVICE_HOST: '10.0.0.1' })).toBe(false);
    expect(hasDefaultCluster({ HOME: home.directory, KUBERNETES_SERVICE_PORT: '443' })).toBe(false);
  });

  test('a kubeconfig precedes the service account', async () => {
    expect((await loaded({ ...pod(), KUBECONFIG: list('b') }))[0]).toBe('https://other:1');
  });

  test('a context is one of a kubeconfig', async () => {
    await expect(loadDefault('one', pod())).rejects.toMatchObject({ code: 'KUBECONFIG_NOT_FOUND' });
  });
});

test('outside of a Pod, one existing kubeconfig is a cluster', () => {
  expect(hasDefaultCluster({ HOME: home.directory, KUBECONFIG: list('gone:b') })).toBe(true);
});

test('empty entries of $KUBECONFIG are no files', () => {
  expect(defaultKubeconfigs({ HOME: '/h', KUBECONFIG: ['', '/a', '', '/b', ''].join(delimiter) })).toEqual([
    '/a',
    '/b',
  ]);
});

test('outside of a Pod, no kubeconfig is no cluster', async () => {
  const none = { HOME: home.directory };
  expect(hasDefaultCluster(none)).toBe(false);
  await expect(loadDefault(undefined, none)).rejects.toThrow(
    `kubeconfig "${join(home.directory, '.kube', 'config')}" does not exist; pass an existing file with --kubeconfig`,
  );
});
