import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import path from 'node:path';
import { asRecord } from '@sluice/platform';
import { type Authenticator, plainAuthenticator, withoutCredentials } from './authenticator.ts';
import type { NamespaceScope } from './cluster.ts';
import type { KubeconfigCluster, KubeconfigEntries, KubeconfigUser } from './kubeconfig-entries.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import { errorCode, parseKubeconfig, readKubeconfigs } from './kubeconfig-file.ts';

/** Access to a cluster as a user: everything a connection needs. */
export interface ClusterAccess {
  /** The context's name, for messages. */
  readonly context: string;
  /** URL of the API server, possibly with a path, without a trailing slash. */
  readonly server: string;
  /** The source, for messages: the kubeconfig's path, or the Pod's service account. */
  readonly source: string;
  /** HTTP proxy for the connection. */
  readonly proxyUrl: string | undefined;
  /** The namespaces to serve. Default: all. */
  readonly namespaces?: NamespaceScope | undefined;
  /** Reads the sources again and returns an authenticator without cached tokens. Throws KubeconfigError. */
  open(): Promise<Authenticator>;
}

/** Access to the same API server without credentials, for requests that bring a token of their own. */
export function unauthenticatedAccess(access: ClusterAccess): ClusterAccess {
  return { ...access, open: async () => withoutCredentials(await access.open()) };
}

interface KubeconfigOptions {
  /** The files in order, as in $KUBECONFIG; one for --kubeconfig. */
  readonly paths: readonly string[];
  /** The kubeconfig's current context if left out. */
  readonly context?: string | undefined;
}

/** Reads and validates one context. Throws KubeconfigError. */
export async function loadKubeconfig(options: KubeconfigOptions): Promise<ClusterAccess> {
  const entries = await readKubeconfigs(options.paths);
  const source = `kubeconfig ${entries.files.map((file) => `"${file}"`).join(', ')}`;
  const selected = select(entries, options.context, source);
  await checkFiles(selected, source);
  return {
    context: selected.context,
    server: selected.cluster.server,
    source,
    proxyUrl: selected.cluster.proxyUrl,
    open: async () => {
      const again = select(await readKubeconfigs(options.paths), selected.context, source);
      return authenticatorOf(again);
    },
  };
}

interface KubeconfigTextOptions {
  /** The source of the text, for messages: `Secret sluice/prod`. */
  readonly source: string;
  readonly text: string;
  /** The kubeconfig's current context if left out. */
  readonly context?: string | undefined;
}

/**
 * Loads one context of a kubeconfig that is not a local file. Its author must not be able to run programs here, send
 * local files to a server or reach services that speak plain HTTP, so plugins, paths and plain-HTTP proxies are rejected. Throws KubeconfigError.
 */
export async function loadKubeconfigText({ source, text, context }: KubeconfigTextOptions): Promise<ClusterAccess> {
  const selected = select(await parseKubeconfig(source, text), context, source);
  rejectLocalReferences(selected, source);
  return {
    context: selected.context,
    server: selected.cluster.server,
    source,
    proxyUrl: selected.cluster.proxyUrl,
    open: () => authenticatorOf(selected),
  };
}

function rejectLocalReferences({ cluster, user }: Selected, source: string): void {
  const given: readonly (readonly [string, unknown])[] = [
    [`an exec plugin for user "${user.name}"`, user.exec],
    [`an auth-provider for user "${user.name}"`, user.authProvider],
    [`a path as certificate-authority of cluster "${cluster.name}"`, cluster.caFile],
    [`a path as client-certificate of user "${user.name}"`, user.certFile],
    [`a path as client-key of user "${user.name}"`, user.keyFile],
    [`a path as tokenFile of user "${user.name}"`, user.tokenFile],
    // A plain-HTTP host that is asked to be a proxy gets a request whose target the author chooses.
    [`a proxy-url without https for cluster "${cluster.name}"`, isPlaintext(cluster.proxyUrl) || undefined],
  ];
  const [found] = given.find(([, value]) => value !== undefined) ?? [];
  if (found === undefined) return;
  throw new KubeconfigError(
    'KUBECONFIG_NOT_SELF_CONTAINED',
    `${source} names ${found}, which is not allowed; embed the credentials instead`,
  );
}

const isPlaintext = (url: string | undefined): boolean =>
  url !== undefined && !(URL.canParse(url) && new URL(url).protocol === 'https:');

/** Names of the contexts in the files, in order. Throws KubeconfigError. */
export async function listContexts(paths: readonly string[]): Promise<readonly string[]> {
  return (await readKubeconfigs(paths)).contexts.map((context) => context.name);
}

export interface InClusterOptions {
  /** $KUBERNETES_SERVICE_HOST */
  readonly host: string;
  /** $KUBERNETES_SERVICE_PORT */
  readonly port: string;
  /** Directory of the mounted service account. Default: the standard path. */
  readonly directory?: string;
}

/** Loads the service account of this Pod. Throws KubeconfigError. */
export async function loadInCluster(options: InClusterOptions): Promise<ClusterAccess> {
  const directory = options.directory ?? '/var/run/secrets/kubernetes.io/serviceaccount';
  const source = `service account in "${directory}"`;
  const host = options.host.includes(':') ? `[${options.host}]` : options.host;
  const selected: Selected = {
    context: 'in-cluster',
    cluster: {
      name: 'in-cluster',
      server: `https://${host}:${options.port}`,
      caFile: path.join(directory, 'ca.crt'),
      skipTLSVerify: false,
    },
    user: {
      name: 'in-cluster',
      tokenFile: path.join(directory, 'token'),
    },
  };
  if (options.host === '' || options.port === '') {
    throw new KubeconfigError(
      'KUBECONFIG_NOT_FOUND',
      'KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set, so this is not a Pod; pass --kubeconfig FILE',
    );
  }
  await checkFiles(selected, source);
  return {
    context: selected.context,
    server: selected.cluster.server,
    source,
    proxyUrl: undefined,
    open: () => authenticatorOf(selected),
  };
}

interface Selected {
  readonly context: string;
  readonly cluster: KubeconfigCluster;
  readonly user: KubeconfigUser;
}

function select(entries: KubeconfigEntries, wanted: string | undefined, source: string): Selected {
  const name = wanted ?? entries.currentContext;
  const names = entries.contexts.map((context) => context.name);
  const choose =
    names.length === 0 ? 'it has no contexts; add one' : `choose one with --context: ${[...names].sort().join(', ')}`;
  if (name === '') throw new KubeconfigError('KUBECONFIG_NO_CONTEXT', `${source} sets no current-context; ${choose}`);
  const context = entries.contexts.find((entry) => entry.name === name);
  const incomplete = (why: string) =>
    new KubeconfigError('KUBECONFIG_INCOMPLETE', `context "${name}" of ${source} cannot be used: ${why}`);
  if (context === undefined) {
    if (entries.incomplete.includes(`contexts/${name}`)) throw incomplete('it names no cluster; add one to it');
    throw new KubeconfigError('KUBECONFIG_NO_CONTEXT', `${source} has no context "${name}"; ${choose}`);
  }
  const cluster = entries.clusters.find((entry) => entry.name === context.cluster);
  if (cluster === undefined) {
    const server = entries.incomplete.includes(`clusters/${context.cluster}`);
    throw incomplete(
      server
        ? `its cluster "${context.cluster}" has no server; add its URL`
        : `its cluster "${context.cluster}" does not exist; add it or correct the name`,
    );
  }
  // A context without a user is anonymous, as in kubectl.
  const user = context.user ? entries.users.find((entry) => entry.name === context.user) : { name: 'anonymous' };
  if (user === undefined) throw incomplete(`its user "${context.user}" does not exist; add it or correct the name`);
  const protocol = URL.canParse(cluster.server) ? new URL(cluster.server).protocol : '';
  if (protocol !== 'https:' && protocol !== 'http:') {
    // The URL may contain credentials.
    throw incomplete(`the server of its cluster "${cluster.name}" is not an http or https URL`);
  }
  if (cluster.proxyUrl && !/^https?:\/\//.test(cluster.proxyUrl)) {
    throw incomplete(`only http and https proxies are supported, not the proxy-url of its cluster "${cluster.name}"`);
  }
  return { context: name, cluster, user };
}

async function checkFiles({ cluster, user }: Selected, source: string): Promise<void> {
  const files: readonly (readonly [string, unknown])[] = [
    [`certificate authority of cluster "${cluster.name}"`, cluster.caFile],
    [`client certificate of user "${user.name}"`, user.certFile],
    [`client key of user "${user.name}"`, user.keyFile],
    [`token of user "${user.name}"`, user.tokenFile ?? asRecord(user.authProvider?.config).tokenFile],
  ];
  for (const [what, file] of files) {
    if (typeof file !== 'string' || file === '') continue;
    try {
      await access(file, constants.R_OK);
    } catch (error) {
      throw new KubeconfigError(
        'KUBECONFIG_FILE_MISSING',
        `the ${what} in ${source} cannot be read: "${file}" (${errorCode(error)}); restore the file or correct its path`,
      );
    }
  }
}

async function authenticatorOf({ cluster, user }: Selected): Promise<Authenticator> {
  if (user.exec === undefined && user.authProvider === undefined) return plainAuthenticator(cluster, user);
  const { pluginAuthenticator } = await import('./plugin-authenticator.ts');
  return pluginAuthenticator(cluster, user);
}

/** Access to a server without authentication, such as a fake API server on loopback. */
export function anonymousAccess(server: string, context: string): ClusterAccess {
  return {
    context,
    server: server.replace(/\/$/, ''),
    source: `address ${server}`,
    proxyUrl: undefined,
    open: async () => ({ applyToHTTPSOptions: async () => {} }),
  };
}
