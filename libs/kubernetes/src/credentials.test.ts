import { readFile } from 'node:fs/promises';
import type { RequestOptions } from 'node:https';
import path from 'node:path';
import { redact, silentLogger, VirtualClock } from '@sluice/platform';
import { beforeEach, describe, expect, test } from 'vitest';
import { ApiError } from './api-error.ts';
import { Credentials } from './credentials.ts';
import { KubeconfigError } from './kubeconfig-error.ts';

const pem = (name: string) => readFile(path.join(import.meta.dirname, 'testdata', name), 'utf8');

let clock: VirtualClock;
/** What the kubeconfig gives now. */
let given: RequestOptions;
/** How often the kubeconfig was read, and how often it was evaluated. */
let opened: number;
let evaluated: number;
let failure: unknown;
let openFailure: unknown;
let credentials: Credentials;

beforeEach(() => {
  clock = new VirtualClock(0);
  given = { headers: { Authorization: 'Bearer one\n' } };
  [opened, evaluated, failure, openFailure] = [0, 0, undefined, undefined];
  const access = {
    ...{ context: 'prod', server: 'https://api.test', source: 'kubeconfig "config"', proxyUrl: undefined },
    open: async () => {
      opened += 1;
      if (openFailure !== undefined) throw openFailure;
      return {
        applyToHTTPSOptions: async (options: RequestOptions) => {
          evaluated += 1;
          if (failure !== undefined) throw failure;
          Object.assign(options, given);
        },
      };
    },
  };
  credentials = new Credentials(access, clock, silentLogger);
});

const current = async () => credentials.current();

describe('a credential', () => {
  test('has trimmed headers with lower-case names', async () => {
    given = { headers: { Authorization: ' Bearer one\n', 'Impersonate-User': 'someone', 'X-Odd': ['a', 'b'] } };
    expect((await current()).headers).toEqual({ authorization: 'Bearer one', 'impersonate-user': 'someone' });
  });

  test('of a user with a password is basic authentication', async () => {
    given = { auth: 'a:b' };
    expect((await current()).headers).toEqual({ authorization: `Basic ${Buffer.from('a:b').toString('base64')}` });
  });

  test('has TLS options only where there are any', async () => {
    given = {};
    expect(await current()).toMatchObject({ headers: {}, tls: {} });
    given = { rejectUnauthorized: true };
    expect(Object.keys((await later()).tls)).toEqual([]);
    const [ca, cert, key] = [await pem('ca.crt'), Buffer.from(await pem('client.crt')), await pem('client.key')];
    given = { ca, cert, key, rejectUnauthorized: false, servername: 'name' };
    expect((await later()).tls).toEqual(given);
  });

  test('is masked in the log, also after a rotation, until the connection is closed', async () => {
    const key = await pem('client.key');
    const line = key.split('\n')[1] ?? '';
    given = { headers: { Authorization: 'Bearer token-before\n' }, cert: await pem('client.crt'), key };
    await current();
    expect(redact(`sent token-before signed with ${line}`)).toBe('sent *** signed with ***');
    given = { auth: 'sluice:token-after' };
    await later();
    expect(redact(`sent token-before, token-after, ${btoa('sluice:token-after')}`)).toBe('sent ***, ***, ***');
    credentials.close();
    expect(redact('sent token-after')).toBe('sent token-after');
  });

  test('hides no sentence from the log, whatever the author of a kubeconfig calls a token', async () => {
    given = { headers: { Authorization: 'Bearer another fleet has claimed the cluster' } };
    await current();
    expect(redact('another fleet has claimed the cluster')).toBe('another fleet has claimed the cluster');
  });

  test('is evaluated once for all who need it, and is at hand for a minute', async () => {
    const [first, second] = await Promise.all([current(), current()]);
    expect(second).toBe(first);
    clock.skipTo(59_999);
    expect(credentials.current()).toBe(first);
    expect(evaluated).toBe(1);
    clock.skipTo(60_000);
    expect(credentials.current()).toBeInstanceOf(Promise);
    expect(await current()).toMatchObject({ version: first.version + 1 });
    expect([opened, evaluated]).toEqual([1, 2]);
  });

  test('that cannot be renewed is kept for another minute', async () => {
    const first = await current();
    failure = new Error('the plugin is gone');
    expect(await later()).toBe(first);
    expect(await current()).toBe(first);
    expect(evaluated).toBe(2);
  });
});

async function later() {
  clock.skipTo(clock.now() + 60_000);
  return current();
}

describe('the TLS options of a renewed credential', () => {
  const bundle = async () => ({ ca: await pem('ca.crt'), cert: await pem('client.crt'), key: await pem('client.key') });

  test('are the same object while their content is the same, so that connections stay open', async () => {
    given = await bundle();
    const first = await current();
    given = { ...(await bundle()), ca: Buffer.from(await pem('ca.crt')) };
    const second = await later();
    expect(second.version).toBeGreaterThan(first.version);
    expect(second.tls).toBe(first.tls);
  });

  test.each<[string, RequestOptions]>([
    ['name of the server', { servername: 'other' }],
    ['verification', { rejectUnauthorized: false }],
    ['authority', { ca: undefined }],
    ['client certificate', { cert: undefined, key: undefined }],
  ])('are new if the %s changed', async (_, change) => {
    given = await bundle();
    const first = await current();
    given = { ...given, ...change };
    expect((await later()).tls).not.toBe(first.tls);
  });

  test('are new if only the client key changed, as for a renewed certificate', async () => {
    given = { key: await pem('client.key') };
    const first = await current();
    given = { key: await pem('server.key') };
    expect((await later()).tls).not.toBe(first.tls);
  });
});

describe('after the API server rejected it', () => {
  test('the kubeconfig is read again, and a newer credential is returned', async () => {
    const first = await current();
    given = { headers: { Authorization: 'Bearer two' } };
    expect(await credentials.refresh(first)).toMatchObject({ headers: { authorization: 'Bearer two' } });
    expect([opened, evaluated]).toEqual([2, 2]);
  });

  test('a credential that is newer than the rejected one is returned at once', async () => {
    const first = await current();
    const second = await later();
    expect(await credentials.refresh(first)).toBe(second);
    expect(evaluated).toBe(2);
  });

  test('all requests that were rejected share one evaluation', async () => {
    const first = await current();
    const [a, b] = await Promise.all([credentials.refresh(first), credentials.refresh(first)]);
    expect(a).toBe(b);
    expect(evaluated).toBe(2);
  });

  test('the next evaluation waits ten seconds, however many requests are rejected', async () => {
    const second = await credentials.refresh(await current());
    if (second === undefined) throw new Error('not refreshed');
    clock.skipTo(9_999);
    expect(await credentials.refresh(second)).toBeUndefined();
    expect(evaluated).toBe(2);
    clock.skipTo(10_000);
    expect(await credentials.refresh(second)).toBeDefined();
    expect(evaluated).toBe(3);
  });

  test('there is nothing newer if the evaluation fails', async () => {
    const first = await current();
    failure = new Error('the plugin is gone');
    expect(await credentials.refresh(first)).toBeUndefined();
  });
});

describe('without any credential, the error', () => {
  test('of an unusable kubeconfig is terminal, and the next attempt reads it again', async () => {
    openFailure = new KubeconfigError('KUBECONFIG_NOT_FOUND', 'no such file');
    await expect(current()).rejects.toMatchObject({
      ...{ kind: 'terminal', status: 0, reason: 'CredentialsUnavailable', message: 'no such file' },
    });
    openFailure = undefined;
    expect((await current()).version).toBe(1);
    expect(opened).toBe(2);
  });

  test('of a request for a token is that of the request', async () => {
    failure = new ApiError('busy', { kind: 'retry', status: 503, reason: 'ServiceUnavailable' });
    await expect(current()).rejects.toBe(failure);
  });

  test.each<[string, unknown, string]>([
    ['broken JSON', new SyntaxError('token hunter2'), 'did not print an ExecCredential'],
    ['JSON of another shape', new TypeError('token hunter2'), 'did not print an ExecCredential'],
    ['an error message of several lines', new Error(' log in\n  first \n'), ': log in first; '],
    ['an empty error message', new Error(' '), 'the plugin failed'],
    ['something that is no error', 'odd', 'unknown error'],
  ])('of a plugin with %s can be retried, and never quotes a token', async (_, error, text) => {
    failure = error;
    const rejected = await current().catch((reason: unknown) => reason);
    expect(rejected).toMatchObject({ kind: 'retry', reason: 'CredentialsUnavailable' });
    expect(String(rejected)).toContain(text);
    expect(String(rejected)).toContain('context "prod" of kubeconfig "config"');
    expect(String(rejected)).not.toContain('hunter2');
  });

  test('of a plugin is cut', async () => {
    failure = new Error('x'.repeat(100_000));
    const rejected = await current().catch((reason: unknown) => reason);
    expect(String(rejected).length).toBeLessThan(1_000);
  });

  test.each<[string, RequestOptions]>([
    ['an authority that is no PEM block', { ca: 'hunter2' }],
    ['a certificate that is none', { cert: 'hunter2' }],
  ])('of %s is terminal', async (_, options) => {
    given = options;
    const rejected = await current().catch((reason: unknown) => reason);
    expect(rejected).toMatchObject({ kind: 'terminal', reason: 'CredentialsUnavailable' });
    expect(String(rejected)).not.toContain('hunter2');
  });
});

test('a plugin has a minute, and leaves no timer behind', async () => {
  await current();
  expect(clock.nextAt()).toBeUndefined();
});
