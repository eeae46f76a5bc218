import { statSync } from 'node:fs';
import type { ClusterConfiguration } from '@sluice/fleet/configuration';
import { defaultsToPod } from '@sluice/kubernetes';

/**
 * The flags with which a command selects one checked cluster, ready to paste into a shell. Empty if no flags select it, as for
 * a cluster from a Secret.
 *
 * @param name the name of the cluster, which is its context unless the configuration names it
 */
export function clusterFlags(cluster: ClusterConfiguration | undefined, name: string): string {
  if (cluster === undefined) return '';
  const { kubeconfig, context } = cluster;
  if (cluster.inCluster || (kubeconfig === undefined && context === undefined && defaultsToPod(process.env))) {
    return '--in-cluster';
  }
  const isDirectory =
    kubeconfig !== undefined && statSync(kubeconfig, { throwIfNoEntry: false })?.isDirectory() === true;
  if (isDirectory) return '';
  const one = cluster.name === undefined ? name : context;
  return [
    ...(kubeconfig === undefined ? [] : ['--kubeconfig', quoted(kubeconfig)]),
    ...(one === undefined ? [] : ['--context', quoted(one)]),
  ].join(' ');
}

const quoted = (word: string): string => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
