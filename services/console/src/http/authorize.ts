import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { hostOfHeader, isLoopback } from '@sluice/platform/process';
import type { AccessReviewer } from '../ports.ts';
import { Problem } from './problem.ts';
import type { Sessions } from './sessions.ts';

export interface Access {
  /**
   * Required in each request as `Authorization: Bearer`, as `/?token=` or by the cookie of a session. Default: none is
   * required. Read for each request, because it may change.
   */
  readonly token?: string | undefined;
  /** Set: instead, each reader presents a token of their own in the same way, and sees what it allows to read. */
  readonly reviewer?: AccessReviewer | undefined;
  /** Accepted host names, besides those of loopback. */
  readonly hosts: readonly string[];
}

/**
 * Rejects other methods than GET and HEAD, unknown host names (DNS rebinding), other origins, and a missing or wrong token.
 * Returns the token; undefined if none is required. That of a reader is not checked yet.
 *
 * @throws Problem
 */
export function authorize(request: IncomingMessage, access: Access, sessions: Sessions): string | undefined {
  const { method, headers } = request;
  if (method !== 'GET' && method !== 'HEAD') throw new Problem(405, 'the console is read-only; use GET or HEAD');
  const host = hostOfHeader(headers.host);
  if (!isLoopback(host) && !access.hosts.includes(host)) {
    throw new Problem(
      421,
      `host name ${host || '(empty)'} is not accepted`,
      'use the printed address, or add the name with --console-host',
    );
  }
  if (isFromAnotherOrigin(headers)) throw new Problem(403, 'requests from other origins are not allowed');
  const { token: required, reviewer } = access;
  if (required === undefined && reviewer === undefined) return undefined;
  const presented = presentedTokens(headers, queryToken(targetOf(request)), sessions);
  const hint = 'as Authorization: Bearer TOKEN, or open /?token=TOKEN once';
  if (reviewer !== undefined) {
    const token = presented.find(isBearerToken);
    if (token === undefined) throw new Problem(401, 'a token of the cluster is required', `send yours ${hint}`);
    return token;
  }
  const token = presented.find((one) => required !== undefined && isSame(one, required));
  if (token === undefined) throw new Problem(401, 'a token is required', `send it ${hint}`);
  return token;
}

/**
 * The requested URL.
 *
 * @throws Problem if it is not a path and query
 */
export function targetOf({ url = '/' }: Pick<IncomingMessage, 'url'>): URL {
  const parsed = url.startsWith('/') && !url.startsWith('//') ? URL.parse(url, 'http://console') : null;
  if (parsed === null) throw new Problem(400, 'invalid URL');
  return parsed;
}

/** The token in the query of a URL. Only the root takes one, so that it appears in no other URL. */
export function queryToken({ pathname, searchParams }: URL): string | undefined {
  return pathname === '/' ? (searchParams.get('token') ?? undefined) : undefined;
}

/** Name of the session's cookie. Browsers accept the prefix `__Host-` only over TLS, for this host and all paths. */
export function sessionCookie(isEncrypted: boolean): string {
  return isEncrypted ? '__Host-sluice_console' : 'sluice_console';
}

/** Browsers send no `Origin` with many requests, but `Sec-Fetch-Site`. Following a link from elsewhere is allowed. */
function isFromAnotherOrigin(headers: IncomingHttpHeaders): boolean {
  const { origin, host } = headers;
  if (origin !== undefined && URL.parse(origin)?.host !== host?.toLowerCase()) return true;
  const site = headers['sec-fetch-site'];
  if (site === undefined || site === 'same-origin' || site === 'none') return false;
  return headers['sec-fetch-mode'] !== 'navigate' || headers['sec-fetch-dest'] !== 'document';
}

/** An API server takes a request without a token for one of an anonymous user. */
const isBearerToken = (given: string): boolean => /^[A-Za-z0-9._~+/-]{1,8192}=*$/.test(given);

/** What a request names expressly comes first. */
function presentedTokens(
  { authorization, cookie = '' }: IncomingHttpHeaders,
  fromQuery: string | undefined,
  sessions: Sessions,
): readonly string[] {
  const bearer = /^Bearer (.+)$/.exec(authorization ?? '')?.[1];
  const names = [sessionCookie(true), sessionCookie(false)];
  const ofSessions = cookie.split('; ').map((pair) => {
    const [name = '', id = ''] = pair.split('=');
    return names.includes(name) ? sessions.tokenOf(id) : undefined;
  });
  return [bearer, fromQuery, ...ofSessions].filter((token) => token !== undefined);
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}
