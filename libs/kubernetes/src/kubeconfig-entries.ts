import path from 'node:path';
import { asRecord, asString, isRecord, type JsonRecord } from '@sluice/platform';
import { KubeconfigError } from './kubeconfig-error.ts';

/** The used fields of a cluster. Strings are not empty if present. */
export interface KubeconfigCluster {
  readonly name: string;
  /** Without a trailing slash. */
  readonly server: string;
  readonly skipTLSVerify: boolean;
  readonly tlsServerName?: string;
  readonly proxyUrl?: string;
  /** Takes precedence over `caData`. */
  readonly caFile?: string;
  /** PEM in base64. */
  readonly caData?: string;
}

/** The used fields of a user. Strings are not empty if present. */
export interface KubeconfigUser {
  readonly name: string;
  readonly token?: string;
  /** Takes precedence over a token and an authProvider, which are then omitted. */
  readonly tokenFile?: string;
  /** Takes precedence over `certData`. */
  readonly certFile?: string;
  /** PEM in base64. */
  readonly certData?: string;
  /** Takes precedence over `keyData`. */
  readonly keyFile?: string;
  /** PEM in base64. */
  readonly keyData?: string;
  readonly username?: string;
  readonly password?: string;
  readonly impersonateUser?: string;
  readonly exec?: JsonRecord;
  readonly authProvider?: JsonRecord;
}

interface KubeconfigContext {
  readonly name: string;
  readonly cluster: string;
  readonly user?: string;
  readonly namespace?: string;
}

/** The entries of one or more kubeconfigs, with paths made absolute. */
export interface KubeconfigEntries {
  readonly clusters: readonly KubeconfigCluster[];
  readonly users: readonly KubeconfigUser[];
  readonly contexts: readonly KubeconfigContext[];
  readonly currentContext: string;
  /** Contexts and clusters that lack required fields, as `contexts/NAME` or `clusters/NAME`. */
  readonly incomplete: readonly string[];
  /** The files read. */
  readonly files: readonly string[];
}

/**
 * The entries of one parsed kubeconfig. Incomplete ones are skipped, because the others are usable. Throws
 * KubeconfigError `KUBECONFIG_MALFORMED` for a field of the wrong type.
 */
export function kubeconfigEntries(file: string, raw: JsonRecord): KubeconfigEntries {
  const directory = path.dirname(path.resolve(file));
  const clusters = entriesOf(file, raw, 'clusters', 'cluster');
  const contexts = entriesOf(file, raw, 'contexts', 'context');
  const usable = {
    clusters: clusters.flatMap((entry) => toCluster(entry, directory)),
    contexts: contexts.flatMap(toContext),
  };
  const incomplete = (list: keyof typeof usable, entries: readonly Entry[]) =>
    entries
      .filter(({ name }) => !usable[list].some((entry) => entry.name === name))
      .map(({ name }) => `${list}/${name}`);
  return {
    ...usable,
    users: entriesOf(file, raw, 'users', 'user').map((entry) => toUser(entry, directory)),
    currentContext: asString(raw['current-context']),
    incomplete: [...incomplete('clusters', clusters), ...incomplete('contexts', contexts)],
    files: [file],
  };
}

export function malformed(file: string, why: string): KubeconfigError {
  return new KubeconfigError(
    'KUBECONFIG_MALFORMED',
    `kubeconfig "${file}" cannot be used: ${why}; compare it with "kubectl config view"`,
  );
}

interface Entry {
  readonly name: string;
  /** The value under `cluster`, `context` or `user`. */
  readonly body: JsonRecord;
  readonly wrongType: (field: string) => KubeconfigError;
}

function entriesOf(file: string, raw: JsonRecord, list: string, kind: string): readonly Entry[] {
  const found: readonly unknown[] = Array.isArray(raw[list]) ? raw[list] : [];
  return found.map(asRecord).flatMap((entry) => {
    const name = asString(entry.name);
    if (name === '') return [];
    const wrongType = (field: string) =>
      malformed(file, `an entry has a field of the wrong type: "${field}" of ${kind} "${name}"`);
    return [{ name, wrongType, body: recordIn({ body: entry, wrongType }, kind) ?? {} }];
  });
}

function toCluster(entry: Entry, directory: string): KubeconfigCluster[] {
  const { name, body } = entry;
  const server = asString(body.server).replace(/\/$/, '');
  if (server === '') return [];
  const { caFile, ...strings } = stringsIn(entry, {
    'certificate-authority': 'caFile',
    'certificate-authority-data': 'caData',
    'tls-server-name': 'tlsServerName',
    'proxy-url': 'proxyUrl',
  });
  const skipTLSVerify = body['insecure-skip-tls-verify'] === true;
  return [{ name, server, skipTLSVerify, ...strings, ...(caFile && { caFile: beside(directory, caFile) }) }];
}

function toContext(entry: Entry): KubeconfigContext[] {
  const cluster = asString(entry.body.cluster);
  return cluster === ''
    ? []
    : [{ name: entry.name, cluster, ...stringsIn(entry, { user: 'user', namespace: 'namespace' }) }];
}

function toUser(entry: Entry, directory: string): KubeconfigUser {
  const { certFile, keyFile, tokenFile, token, ...strings } = stringsIn(entry, {
    'client-certificate': 'certFile',
    'client-certificate-data': 'certData',
    'client-key': 'keyFile',
    'client-key-data': 'keyData',
    tokenFile: 'tokenFile',
    token: 'token',
    username: 'username',
    password: 'password',
    as: 'impersonateUser',
  });
  const authProvider = recordIn(entry, 'auth-provider');
  const exec = recordIn(entry, 'exec');
  return {
    name: entry.name,
    ...strings,
    ...(certFile && { certFile: beside(directory, certFile) }),
    ...(keyFile && { keyFile: beside(directory, keyFile) }),
    ...(tokenFile
      ? { tokenFile: beside(directory, tokenFile) }
      : { ...(token && { token }), ...(authProvider && { authProvider }) }),
    ...(exec && { exec: pluginBeside(directory, exec) }),
  };
}

/** A command without a slash is looked up in $PATH. */
function pluginBeside(directory: string, exec: JsonRecord): JsonRecord {
  const command = asString(exec.command);
  return command.includes('/') ? { ...exec, command: beside(directory, command) } : exec;
}

function beside(directory: string, file: string): string {
  return path.isAbsolute(file) ? file : path.join(directory, file);
}

/** The non-empty string fields, renamed. */
function stringsIn<Name extends string>(
  { body, wrongType }: Entry,
  names: Readonly<Record<string, Name>>,
): { readonly [N in Name]?: string } {
  const found: { [N in Name]?: string } = {};
  for (const [field, name] of Object.entries<Name>(names)) {
    const value = body[field] ?? '';
    if (typeof value !== 'string') throw wrongType(field);
    if (value !== '') found[name] = value;
  }
  return found;
}

function recordIn({ body, wrongType }: Omit<Entry, 'name'>, field: string): JsonRecord | undefined {
  const value = body[field];
  if (value === undefined || value === null || value === '') return undefined;
  if (!isRecord(value)) throw wrongType(field);
  return value;
}
