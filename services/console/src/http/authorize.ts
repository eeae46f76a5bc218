import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Problem } from './problem.ts';

export interface Access {
  /** Required in each request as `Authorization: Bearer`, as a cookie or as `?token=`. Default: no token is required. */
  readonly token?: string;
  /** Accepted host names, besides those of loopback. */
  readonly hosts: readonly string[];
}

export const tokenCookie = 'sluice_console';
const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Rejects other methods than GET and HEAD, unknown host names (DNS rebinding), other origins, and a missing or wrong token.
 *
 * @throws Problem
 */
export function authorize({ method, url = '/', headers }: IncomingMessage, access: Access): void {
  if (method !== 'GET' && method !== 'HEAD') throw new Problem(405, 'the console is read-only; use GET or HEAD');
  const host = hostName(headers.host);
  if (!loopback.has(host) && !access.hosts.includes(host)) {
    throw new Problem(
      421,
      `host name ${host || '(empty)'} is not accepted`,
      'use the printed address, or add the name with --console-host',
    );
  }
  if (headers.origin !== undefined && URL.parse(headers.origin)?.host !== headers.host?.toLowerCase()) {
    throw new Problem(403, 'requests from other origins are not allowed');
  }
  if (access.token !== undefined && !hasToken(access.token, headers, queryToken(url))) {
    throw new Problem(401, 'a token is required', 'send it as Authorization: Bearer TOKEN, or open /?token=TOKEN once');
  }
}

/** The token in the query of a URL. */
export function queryToken(url: string): string | undefined {
  return new URL(url, 'http://console').searchParams.get('token') ?? undefined;
}

type Headers = IncomingMessage['headers'];

function hasToken(token: string, { authorization, cookie }: Headers, fromQuery: string | undefined): boolean {
  const bearer = /^Bearer (.+)$/.exec(authorization ?? '')?.[1];
  const stored = (cookie ?? '')
    .split('; ')
    .find((pair) => pair.startsWith(`${tokenCookie}=`))
    ?.slice(tokenCookie.length + 1);
  return [bearer, stored && decode(stored), fromQuery].some((given) => given !== undefined && isSame(given, token));
}

function isSame(given: string, token: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

const hostName = (host: string | undefined): string => (host ?? '').toLowerCase().replace(/:\d+$/, '');
