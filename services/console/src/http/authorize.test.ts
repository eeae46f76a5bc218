import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { VirtualClock } from '@sluice/platform';
import { describe, expect, test } from 'vitest';
import { type Access, authorize, sessionCookie, targetOf } from './authorize.ts';
import { Problem } from './problem.ts';
import { Sessions } from './sessions.ts';

const sessions = new Sessions(new VirtualClock(0));

/** The status and hint of the refusal; null if the request is allowed. */
function refusal(headers: IncomingHttpHeaders, access: Partial<Access> = {}, url = '/api/v1/overview', method = 'GET') {
  try {
    const request = { method, url, headers: { host: 'localhost:10270', ...headers } } as IncomingMessage;
    authorize(request, { hosts: [], ...access }, sessions);
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return `${error.status} ${error.message}`;
  }
}

test.each([
  [null, 'localhost:10270'],
  [null, '127.0.0.1:10270'],
  [null, '[::1]:10270'],
  [null, 'console.example'],
  ['421 host name evil.example is not accepted', 'evil.example:10270'],
  ['421 host name (empty) is not accepted', ''],
])('only known host names are accepted: %s for %j', (expected, host) => {
  expect(refusal({ host }, { hosts: ['console.example'] })).toBe(expected);
});

test.each([
  [null, 'GET'],
  [null, 'HEAD'],
  ['405 the console is read-only; use GET or HEAD', 'POST'],
  ['405 the console is read-only; use GET or HEAD', 'OPTIONS'],
])('the console only reads: %s for %s', (expected, method) => {
  expect(refusal({}, {}, '/', method)).toBe(expected);
});

describe('requests of other sites', () => {
  const refused = '403 requests from other origins are not allowed';

  test.each<[string | null, string, string]>([
    [null, 'http://localhost:10270', 'localhost:10270'],
    [null, 'http://localhost:10270', 'LOCALHOST:10270'],
    [refused, 'http://localhost:1', 'localhost:10270'],
    [refused, 'http://evil.example', 'localhost:10270'],
    [refused, 'null', 'localhost:10270'],
  ])('%s: origin %s at %s', (expected, origin, host) => {
    expect(refusal({ origin, host })).toBe(expected);
  });

  test.each<[string | null, IncomingHttpHeaders]>([
    [null, { 'sec-fetch-site': 'same-origin' }],
    [null, { 'sec-fetch-site': 'none' }],
    [refused, { 'sec-fetch-site': 'cross-site' }],
    [refused, { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate' }],
    [refused, { 'sec-fetch-site': 'same-site', 'sec-fetch-dest': 'document' }],
    [null, { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }],
  ])('%s: %j', (expected, headers) => {
    expect(refusal(headers)).toBe(expected);
  });
});

describe('the token', () => {
  const access = { token: 'secret' };
  const required = '401 a token is required';
  const cookie = (id: string, isEncrypted = false) => `theme=dark; ${sessionCookie(isEncrypted)}=${id}`;

  test.each<[string | null, IncomingHttpHeaders]>([
    [required, {}],
    [null, { authorization: 'Bearer secret' }],
    [required, { authorization: 'Bearer Secret' }],
    [required, { authorization: 'Bearer secret2' }],
    [required, { authorization: 'Bearer ' }],
    [required, { authorization: 'Basic secret' }],
    [required, { authorization: 'x Bearer secret' }],
    [required, { cookie: cookie('unknown') }],
  ])('%s with %j', (expected, headers) => {
    expect(refusal(headers, access)).toBe(expected);
  });

  test('is taken from the query of the root only', () => {
    expect(refusal({}, access, '/?token=secret')).toBeNull();
    expect(refusal({}, access, '/?token=wrong')).toBe(required);
    expect(refusal({}, access, '/')).toBe(required);
    expect(refusal({}, access, '/fleet?token=secret')).toBe(required);
  });

  test('is not needed in a session, whose cookie has another name over TLS', () => {
    const id = sessions.create('secret');
    expect(refusal({ cookie: cookie(id) }, access)).toBeNull();
    expect(refusal({ cookie: cookie(id, true) }, access)).toBeNull();
    expect(refusal({ cookie: `sluice=${id}` }, access)).toBe(required);
    expect(refusal({ cookie: cookie(id) }, { token: 'another' })).toBe(required);
    expect([sessionCookie(true), sessionCookie(false)]).toEqual(['__Host-sluice_console', 'sluice_console']);
  });

  test('is not needed if none is set', () => {
    expect(refusal({ authorization: 'Bearer wrong' })).toBeNull();
  });
});

test('a request is for a path of this server', () => {
  expect(targetOf({ url: '/fleet?at=1' })).toMatchObject({ pathname: '/fleet', search: '?at=1' });
  expect(targetOf({})).toMatchObject({ pathname: '/' });
  for (const url of ['//evil.example', 'http://evil.example/', '', '*'])
    expect(() => targetOf({ url }), url).toThrow('invalid URL');
});
