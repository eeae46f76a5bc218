import {
  Connection,
  defaultKubeconfigs,
  defaultsToPod,
  isKubeconfigError,
  loadKubeconfig,
  type NamespaceScope,
} from '@sluice/kubernetes';
import type { Clock, Logger } from '@sluice/platform';
import { UsageError, userAgent } from '@sluice/platform/process';
import type { ClusterConfiguration, ClusterSecretsConfiguration } from '../configuration/index.ts';
import type { ClusterCandidate, ClusterSource } from './cluster-source.ts';
import { inCluster } from './connect.ts';
import { kubeconfigSource } from './kubeconfig-source.ts';
import { secretsSource } from './secrets-source.ts';

interface ConfiguredClusters {
  readonly clusters: readonly ClusterConfiguration[];
  readonly clusterSecrets?: ClusterSecretsConfiguration | undefined;
}

interface Ports {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The sources that the configuration lists. */
export function clusterSources(
  { clusters, clusterSecrets }: ConfiguredClusters,
  environment: NodeJS.ProcessEnv,
  ports: Ports,
): readonly ClusterSource[] {
  const sources = clusters.map(({ name, kubeconfig, context, inCluster, namespaces, excludeNamespaces }) => {
    const isPod = kubeconfig === undefined && context === undefined && defaultsToPod(environment);
    const source =
      inCluster || isPod
        ? inClusterSource(name ?? 'in-cluster', environment)
        : kubeconfigSource({ path: kubeconfig ?? defaultKubeconfigs(environment), contexts: context, name });
    if (namespaces === undefined && excludeNamespaces === undefined) return source;
    return scopedSource(source, { only: namespaces, except: excludeNamespaces });
  });
  return clusterSecrets === undefined ? sources : [...sources, lazySecretsSource(clusterSecrets, environment, ports)];
}

function scopedSource(source: ClusterSource, namespaces: NamespaceScope): ClusterSource {
  return {
    ...source,
    async read(signal) {
      const { candidates, problems } = await source.read(signal);
      const scope = (candidate: ClusterCandidate): ClusterCandidate => ({
        ...candidate,
        load: async () => ({ ...(await candidate.load()), namespaces }),
      });
      return { candidates: candidates.map(scope), problems };
    },
  };
}

function inClusterSource(name: string, environment: NodeJS.ProcessEnv): ClusterSource {
  const from = 'the cluster of this Pod';
  const load = () => inCluster(environment);
  return {
    about: from,
    read: async () => ({ candidates: [{ name, from, fingerprint: from, load }], problems: [] }),
  };
}

/**
 * Connects to the management cluster at the first read, so that an unavailable one is retried like any other source.
 */
function lazySecretsSource(
  { selector, namespace, kubeconfig, context }: ClusterSecretsConfiguration,
  environment: NodeJS.ProcessEnv,
  ports: Ports,
): ClusterSource {
  let source: ClusterSource | undefined;
  return {
    about: `Secrets in namespace ${namespace} with labels ${selector}`,
    async read(signal) {
      if (source === undefined) {
        const access =
          kubeconfig === undefined
            ? await inCluster(environment)
            : await loadKubeconfig({ paths: [kubeconfig], context });
        const connection = new Connection({ access, userAgent: userAgent(), readOnly: true, ...ports });
        source = secretsSource({ connection, namespace, selector });
      }
      return source.read(signal);
    },
  };
}

/**
 * If the only source is a kubeconfig file, errors in it are reported at start instead of being retried.
 *
 * @throws UsageError what is wrong with the file
 */
export async function checkOnlySource(sources: readonly ClusterSource[]): Promise<void> {
  const [only, ...others] = sources;
  if (only === undefined || others.length > 0 || !only.isFile) return;
  const { candidates, problems } = await only.read(AbortSignal.timeout(10_000));
  const [problem] = problems;
  if (candidates.length === 0 && problem !== undefined) throw new UsageError(problem.reason);
  for (const candidate of candidates) {
    await candidate.load().catch((error: unknown) => {
      throw isKubeconfigError(error) ? new UsageError(error.message, { cause: error }) : error;
    });
  }
}
