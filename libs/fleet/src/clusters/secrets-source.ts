import { createHash } from 'node:crypto';
import { type ClusterAccess, type Connection, KubeconfigError, loadKubeconfigText } from '@sluice/kubernetes';
import { asRecord, asString, isRecord, type JsonRecord } from '@sluice/platform';
import type { ClusterCandidate, ClusterSource, InvalidCluster } from './cluster-source.ts';

interface SecretsSourceOptions {
  /** Connection to the management cluster. */
  readonly connection: Pick<Connection, 'request' | 'server'>;
  readonly namespace: string;
  /** A label selector, as in `kubectl --selector`. */
  readonly selector: string;
}

/** Room for a kubeconfig of 64 KiB for each of a thousand clusters. */
const maxResponseBytes = 64 * 1024 * 1024;

/** Secret keys that may hold the kubeconfig; `value` is Cluster API's. */
const dataKeys = ['kubeconfig', 'value', 'config'] as const;

/** Clusters from kubeconfigs in Secrets of a management cluster. A cluster is named after its Secret. */
export function secretsSource({ connection, namespace, selector }: SecretsSourceOptions): ClusterSource {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets?${new URLSearchParams({ labelSelector: selector })}`;
  return {
    about: `Secrets in namespace ${namespace} with labels ${selector} at ${connection.server}`,
    async read(signal) {
      const { body } = await connection.request({ method: 'GET', path, signal, maxResponseBytes });
      // Another response, e.g. from a proxy, does not mean that there are no Secrets.
      if (!isRecord(body) || !Array.isArray(body.items)) throw new Error('the response is not a list of Secrets');
      const secrets = body.items.filter(isRecord);
      const read = secrets.map((secret) => readSecret(secret, namespace));
      return {
        candidates: read.filter((one): one is ClusterCandidate => 'load' in one),
        problems: read.filter((one): one is InvalidCluster => 'reason' in one),
      };
    },
  };
}

function readSecret(secret: JsonRecord, namespace: string): ClusterCandidate | InvalidCluster {
  const name = asString(asRecord(secret.metadata).name);
  const from = `Secret ${namespace}/${name}`;
  const data = asRecord(secret.data);
  const key = dataKeys.find((one) => asString(data[one]) !== '');
  if (key === undefined) {
    return { name, from, reason: `the Secret contains no kubeconfig: expected one of the keys ${dataKeys.join(', ')}` };
  }
  const text = Buffer.from(asString(data[key]), 'base64').toString('utf8');
  return {
    name,
    from,
    fingerprint: createHash('sha256').update(text).digest('hex'),
    load: async () => encrypted(await loadKubeconfigText({ source: from, text })),
  };
}

/** The author of a Secret must not be able to address internal services that speak HTTP only, such as a cloud's metadata. */
function encrypted(access: ClusterAccess): ClusterAccess {
  if (new URL(access.server).protocol === 'https:') return access;
  throw new KubeconfigError('KUBECONFIG_NOT_ENCRYPTED', `the server in ${access.source} is not an https URL`);
}
