import { checkPair } from './assemble-bus.ts';
import type { StoreConfiguration } from './configuration.ts';
import type { Problems } from './problems.ts';
import { defined, type Values } from './values.ts';

/** Builds the store configuration and checks that its settings are consistent. */
export function assembleStore(values: Values, problems: Problems): StoreConfiguration {
  if (values.get('store.kind') !== 'redis') return { kind: 'memory' };
  const urls = values.get('store.url') ?? [];
  const mode = values.get('store.mode');
  checkUrls(values, urls, mode, problems);
  const { username, password, maxDeadLetters } = values.section('store');
  return {
    kind: 'redis',
    urls,
    topology: topologyOf(values, mode, problems),
    ...defined({ username, password, tls: tlsOf(values, urls, problems) }),
    commandTimeoutMs: values.get('store.commandTimeout'),
    maxDeadLetters,
  };
}

/** Messages never contain an address, which may include a password. */
function checkUrls(values: Values, urls: readonly string[], mode: string, problems: Problems): void {
  const at = values.where('store.url');
  if (urls.length === 0) problems.add(`${values.where('store.kind')} is redis, but store.url is empty`);
  if (urls.length > 1 && mode === 'standalone') {
    problems.add(`${at} has ${urls.length} addresses; expected one, or store.mode sentinel or cluster`);
  }
  if (new Set(urls.map((url) => url.startsWith('rediss:'))).size > 1) {
    problems.add(`${at} mixes redis:// and rediss://; use one of them`);
  }
  for (const [index, text] of urls.entries()) {
    const entry = `${at}: address ${index + 1}`;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined) problems.add(`${entry} is not a valid address; expected redis://host:port`);
    else if (![url.username, url.password].every(decodable)) {
      problems.add(`${entry} has an invalid percent-encoding in its user or password; write %25 for a literal %`);
    } else if (mode === 'cluster' && Number(url.pathname.slice(1)) !== 0) {
      problems.add(`${entry} selects a database; a Redis Cluster has only database 0`);
    }
    if (url?.password === '***')
      problems.add(`${entry} has the password ***, which is a masked secret; insert the real one`);
  }
}

function decodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

function topologyOf(values: Values, mode: 'standalone' | 'sentinel' | 'cluster', problems: Problems) {
  if (mode !== 'sentinel') {
    for (const path of ['store.masterName', 'store.sentinelUsername', 'store.sentinelPassword'] as const) {
      if (values.has(path)) problems.add(`${values.where(path)} requires store.mode sentinel, but it is ${mode}`);
    }
    return { mode };
  }
  const { masterName = '', sentinelUsername: username, sentinelPassword: password } = values.section('store');
  if (masterName === '') {
    problems.add(`${values.where('store.mode')} is sentinel; set store.masterName as well`);
  }
  return { mode, masterName, ...defined({ username, password }) };
}

const tlsPaths = ['store.tls.ca', 'store.tls.cert', 'store.tls.key', 'store.tls.serverName'] as const;

function tlsOf(values: Values, urls: readonly string[], problems: Problems) {
  const given = tlsPaths.filter((path) => values.has(path));
  if (urls.some((url) => url.startsWith('redis:'))) {
    for (const path of given)
      problems.add(`${values.where(path)} requires rediss://, but store.url starts with redis://`);
  }
  checkPair(values, 'store.tls.cert', 'store.tls.key', problems);
  return given.length === 0 ? undefined : defined(values.section('store.tls'));
}
