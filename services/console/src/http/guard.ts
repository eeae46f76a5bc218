import { timingSafeEqual } from 'node:crypto';
import { Problem } from './problem.ts';

export interface Access {
  /** Must come with each request, as `Authorization: Bearer` or, once, as `?token=`. Undefined: loopback only, no token. */
  readonly token?: string;
  /** Names under which the console may be asked for besides those of loopback. */
  readonly hosts: readonly string[];
}

export interface Asked {
  readonly method: string;
  readonly host: string | undefined;
  readonly origin: string | undefined;
  readonly authorization: string | undefined;
  readonly cookie: string | undefined;
  readonly queryToken: string | undefined;
}

export const tokenCookie = 'sluice_console';
const loopback = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Refuses what is not for the console (Problem): another method than reading, a name that is not its own (a page of
 * somebody else whose name resolves to loopback), a page of another origin, a missing or wrong token.
 */
export function guard(asked: Asked, access: Access): void {
  if (asked.method !== 'GET' && asked.method !== 'HEAD') throw new Problem(405, 'the console only reads: GET and HEAD');
  const host = hostName(asked.host);
  if (!loopback.has(host) && !access.hosts.includes(host)) {
    throw new Problem(
      421,
      `this console is not known as ${host || 'an empty name'}`,
      'use the address that it printed',
    );
  }
  if (asked.origin !== undefined && urlHost(asked.origin) !== asked.host?.toLowerCase()) {
    throw new Problem(403, 'pages of other origins may not ask');
  }
  if (access.token !== undefined && !isGiven(access.token, asked)) {
    throw new Problem(401, 'a token is needed', 'send it as Authorization: Bearer TOKEN, or open /?token=TOKEN once');
  }
}

function isGiven(token: string, { authorization, cookie, queryToken }: Asked): boolean {
  const bearer = /^Bearer (.+)$/.exec(authorization ?? '')?.[1];
  const kept = (cookie ?? '')
    .split('; ')
    .find((pair) => pair.startsWith(`${tokenCookie}=`))
    ?.slice(tokenCookie.length + 1);
  return [bearer, kept && decode(kept), queryToken].some((given) => given !== undefined && isSame(given, token));
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

function urlHost(origin: string): string {
  return URL.parse(origin)?.host ?? '';
}
