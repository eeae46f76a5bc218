import type { JsonRecord } from '@sluice/platform';
import { describe, expect, it } from 'vitest';
import { kubeconfigEntries } from './kubeconfig-entries.ts';
import { isKubeconfigError } from './kubeconfig-error.ts';

const server = 'https://10.0.0.1:6443';

function failure(raw: JsonRecord): { readonly code: string; readonly message: string } {
  try {
    kubeconfigEntries('/etc/config', raw);
  } catch (error) {
    if (isKubeconfigError(error)) return error;
  }
  throw new Error('expected a KubeconfigError');
}

describe('kubeconfigEntries', () => {
  it('takes what is used, with paths beside the file made absolute', () => {
    const raw = {
      'current-context': 'c',
      clusters: [
        {
          name: 'c',
          cluster: {
            server: `${server}/`,
            'certificate-authority': 'ca.crt',
            'certificate-authority-data': 'Y2E=',
            'insecure-skip-tls-verify': true,
            'tls-server-name': 'name',
            'proxy-url': 'http://proxy',
            extensions: [],
          },
        },
      ],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u', namespace: 'n' } }],
      users: [
        {
          name: 'u',
          user: {
            'client-certificate': '../u.crt',
            'client-certificate-data': 'Y3J0',
            'client-key': '/keys/u.key',
            'client-key-data': 'a2V5',
            token: 't',
            username: 'a',
            password: 'b',
            as: 'someone',
            exec: { command: './plugin', args: ['x'] },
            'auth-provider': { name: 'oidc' },
          },
        },
      ],
    };
    expect(kubeconfigEntries('/etc/kube/config', raw)).toEqual({
      clusters: [
        {
          name: 'c',
          server,
          caFile: '/etc/kube/ca.crt',
          caData: 'Y2E=',
          skipTLSVerify: true,
          tlsServerName: 'name',
          proxyUrl: 'http://proxy',
        },
      ],
      contexts: [{ name: 'c', cluster: 'c', user: 'u', namespace: 'n' }],
      users: [
        {
          name: 'u',
          certFile: '/etc/u.crt',
          certData: 'Y3J0',
          keyFile: '/keys/u.key',
          keyData: 'a2V5',
          token: 't',
          username: 'a',
          password: 'b',
          impersonateUser: 'someone',
          exec: { command: '/etc/kube/plugin', args: ['x'] },
          authProvider: { name: 'oidc' },
        },
      ],
      currentContext: 'c',
      incomplete: [],
      files: ['/etc/kube/config'],
    });
  });

  it('prefers a token file to a token and an auth-provider, and finds plain commands in $PATH', () => {
    const user = { tokenFile: 'token', token: 't', 'auth-provider': { name: 'oidc' }, exec: { command: 'plugin' } };
    expect(kubeconfigEntries('/etc/config', { users: [{ name: 'u', user }] }).users).toEqual([
      { name: 'u', tokenFile: '/etc/token', exec: { command: 'plugin' } },
    ]);
  });

  it('takes null and empty strings for nothing', () => {
    const raw = {
      clusters: [{ name: 'c', cluster: { server, 'proxy-url': '', 'certificate-authority': null } }],
      contexts: null,
      users: [
        { name: 'u', user: { token: null, as: '', exec: null } },
        { name: 'v', user: null },
      ],
    };
    expect(kubeconfigEntries('/etc/config', raw)).toMatchObject({
      clusters: [{ name: 'c', server, skipTLSVerify: false }],
      contexts: [],
      users: [{ name: 'u' }, { name: 'v' }],
    });
  });

  it('passes over entries that lack what they need, and remembers their names', () => {
    const raw = {
      clusters: [
        null,
        'x',
        {},
        { name: 'a' },
        { name: 'b', cluster: { server: 5 } },
        { name: 'c', cluster: { server } },
      ],
      contexts: [
        { name: 'a', context: {} },
        { name: 'c', context: { cluster: 'c' } },
      ],
      users: [{ user: { token: 't' } }],
    };
    expect(kubeconfigEntries('/etc/config', raw)).toMatchObject({
      clusters: [{ name: 'c' }],
      contexts: [{ name: 'c', cluster: 'c' }],
      users: [],
      incomplete: ['clusters/a', 'clusters/b', 'contexts/a'],
    });
  });

  it.each<[JsonRecord, string]>([
    [{ clusters: [{ name: 'x', cluster: [] }] }, '"cluster" of cluster "x"'],
    [{ clusters: [{ name: 'x', cluster: { server, 'certificate-authority': 5 } }] }, '"certificate-authority" of'],
    [{ contexts: [{ name: 'x', context: { cluster: 'c', user: {} } }] }, '"user" of context "x"'],
    [{ users: [{ name: 'x', user: 'hunter2' }] }, '"user" of user "x"'],
    [{ users: [{ name: 'x', user: { token: ['hunter2'] } }] }, '"token" of user "x"'],
    [{ users: [{ name: 'x', user: { password: 12345 } }] }, '"password" of user "x"'],
    [{ users: [{ name: 'x', user: { as: 7 } }] }, '"as" of user "x"'],
    [{ users: [{ name: 'x', user: { exec: 'hunter2' } }] }, '"exec" of user "x"'],
    [{ users: [{ name: 'x', user: { 'auth-provider': ['hunter2'] } }] }, '"auth-provider" of user "x"'],
  ])('rejects a field of the wrong type without quoting its value: %j', (raw, where) => {
    const { code, message } = failure(raw);
    expect(code).toBe('KUBECONFIG_MALFORMED');
    expect(message).toContain(
      `kubeconfig "/etc/config" cannot be used: an entry has a field of the wrong type: ${where}`,
    );
    expect(message).not.toMatch(/hunter2|12345/);
  });
});
