import type { RequestOptions } from 'node:https';
import { describe, expect, test } from 'vitest';
import { loadKubeconfigText } from './kubeconfig.ts';
import { kubeconfigText } from './testing/fixtures.ts';

const server = 'https://10.0.0.1:6443';
const source = 'Secret sluice/prod';
const load = (cluster: object = {}, user: object = {}) =>
  loadKubeconfigText({ source, text: kubeconfigText({ server, ...cluster }, user) });

describe('a kubeconfig from a Secret', () => {
  test('gives access with the credentials that it contains', async () => {
    const access = await load({ 'proxy-url': 'https://proxy' }, { token: 't', as: 'someone' });
    expect(access).toMatchObject({ context: 'test', server, source, proxyUrl: 'https://proxy' });
    const options: RequestOptions = {};
    await (await access.open()).applyToHTTPSOptions(options);
    expect(options.headers).toEqual({ Authorization: 'Bearer t', 'Impersonate-User': 'someone' });
  });

  test('can be loaded with another context than its current one', async () => {
    const text = JSON.stringify({
      'current-context': 'gone',
      contexts: [{ name: 'one', context: { cluster: 'c' } }],
      clusters: [{ name: 'c', cluster: { server } }],
    });
    expect(await loadKubeconfigText({ source, text, context: 'one' })).toMatchObject({ context: 'one', server });
    await expect(loadKubeconfigText({ source, text })).rejects.toMatchObject({ code: 'KUBECONFIG_NO_CONTEXT' });
  });

  test.each<[string, object, object]>([
    ['a plugin', {}, { exec: { command: 'sh' } }],
    ['an auth-provider', {}, { 'auth-provider': { name: 'oidc' } }],
    ['the path of an authority', { 'certificate-authority': '/etc/passwd' }, {}],
    ['the path of a certificate', {}, { 'client-certificate': '/etc/passwd' }],
    ['the path of a key', {}, { 'client-key': '/etc/passwd' }],
    ['the path of a token', {}, { tokenFile: '/etc/passwd' }],
    ['a plain-HTTP proxy', { 'proxy-url': 'http://169.254.169.254' }, {}],
    ['a plain-HTTP proxy in other letters', { 'proxy-url': 'http://user:pass@metadata.internal/latest' }, {}],
  ])(
    'is rejected if it names %s, because its author could run programs, read files or reach services here',
    async (_, cluster, user) => {
      await expect(load(cluster, user)).rejects.toMatchObject({
        code: 'KUBECONFIG_NOT_SELF_CONTAINED',
        message: expect.stringContaining(source),
      });
    },
  );

  test('is rejected if it is incomplete or none', async () => {
    await expect(loadKubeconfigText({ source, text: 'hunter2' })).rejects.toMatchObject({
      code: 'KUBECONFIG_MALFORMED',
    });
    await expect(load({ server: 'ftp://a' })).rejects.toMatchObject({ code: 'KUBECONFIG_INCOMPLETE' });
  });
});
