import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type ClusterAccess, type InClusterOptions, loadInCluster, loadKubeconfig } from './kubeconfig.ts';
import { isKubeconfigError } from './kubeconfig-error.ts';
import { readKubeconfigs } from './kubeconfig-file.ts';

export type KubeconfigEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * The kubeconfigs that kubectl merges without --kubeconfig: the files of $KUBECONFIG, or ~/.kube/config. A file that is
 * listed twice is read once.
 */
export function defaultKubeconfigs({ KUBECONFIG, HOME }: KubeconfigEnvironment): readonly string[] {
  if (KUBECONFIG) return [...new Set(KUBECONFIG.split(delimiter).filter((file) => file !== ''))];
  return [join(HOME || homedir(), '.kube', 'config')];
}

/** Whether this is a Pod without any of the default kubeconfigs. client-go then uses the Pod's service account. */
export function defaultsToPod(environment: KubeconfigEnvironment): boolean {
  return isPod(environment) && !hasDefaultKubeconfig(environment);
}

/** Whether kubectl would find a cluster without flags. */
export function hasDefaultCluster(environment: KubeconfigEnvironment): boolean {
  return isPod(environment) || hasDefaultKubeconfig(environment);
}

/** Loads a context of the default kubeconfigs, or, in a Pod without one, its service account. Throws KubeconfigError. */
export async function loadDefault(
  context: string | undefined,
  environment: KubeconfigEnvironment,
  directory?: InClusterOptions['directory'],
): Promise<ClusterAccess> {
  if (context !== undefined || !defaultsToPod(environment)) {
    return loadKubeconfig({ paths: defaultKubeconfigs(environment), context });
  }
  const { KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = environment;
  return loadInCluster({ host, port, ...(directory !== undefined && { directory }) });
}

/**
 * The namespace that kubectl would use: that of the context, or `default`. Undefined without a context, or if the kubeconfigs
 * cannot be read.
 *
 * @param context Default: the current one
 */
export async function defaultNamespace(
  environment: KubeconfigEnvironment,
  context?: string,
): Promise<string | undefined> {
  try {
    const { contexts, currentContext } = await readKubeconfigs(defaultKubeconfigs(environment));
    const current = contexts.find(({ name }) => name === (context ?? currentContext));
    return current && (current.namespace || 'default');
  } catch (error) {
    if (isKubeconfigError(error)) return undefined;
    throw error;
  }
}

function hasDefaultKubeconfig(environment: KubeconfigEnvironment): boolean {
  return defaultKubeconfigs(environment).some((file) => existsSync(file));
}

function isPod({ KUBERNETES_SERVICE_HOST, KUBERNETES_SERVICE_PORT }: KubeconfigEnvironment): boolean {
  return Boolean(KUBERNETES_SERVICE_HOST && KUBERNETES_SERVICE_PORT);
}
