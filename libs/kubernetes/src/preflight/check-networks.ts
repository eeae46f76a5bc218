import type { Clock, Logger, Random } from '@sluice/platform';
import { userAgent } from '@sluice/platform/process';
import { type ClusterAccess, Connection, isApiError, ListBudget } from '../index.ts';
import type { Check } from './check.ts';
import { type ClusterNetwork, readClusterNetwork } from './cluster-network.ts';
import { compareNetworks, notChecked } from './compare-networks.ts';

export interface NamedCluster {
  readonly name: string;
  readonly access: ClusterAccess;
}

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Clusters that are read at once. */
const concurrency = 8;

/** For the addresses of all clusters together. */
const maxBytes = 1024 ** 3;

/** Compares the addresses that the clusters use. Only reads. Nothing to compare if there is only one. */
export async function checkNetworks(clusters: readonly NamedCluster[], ports: Ports): Promise<readonly Check[]> {
  if (clusters.length < 2) return [];
  const budget = new ListBudget(maxBytes);
  const counts = { nodes: budget.begin('nodes'), pods: budget.begin('pods') };
  const { signal } = new AbortController();
  const read: (ClusterNetwork | Check)[] = [];
  const waiting = clusters.entries();
  const readNext = async () => {
    for (const [index, { name, access }] of waiting) {
      const options = { access, userAgent: userAgent('doctor'), timeoutMs: 10_000, readOnly: true };
      const connection = new Connection({ ...options, ...ports });
      try {
        read[index] = await readClusterNetwork(name, { connection, ...ports, counts }, signal);
      } catch (error) {
        if (!isApiError(error)) throw error;
        read[index] = notChecked('addresses', `${name}: ${error.message}`);
      } finally {
        await connection.destroy();
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, readNext));
  const networks = read.flatMap((one) => ('check' in one ? [] : one));
  return [...compareNetworks(networks), ...read.flatMap((one) => ('check' in one ? one : []))];
}
