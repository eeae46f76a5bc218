import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { FleetIdentity } from '@sluice/fleet/clusters';
import type { LeaderElectionConfiguration } from '@sluice/fleet/configuration';

/** New with each start, so that two processes of one host are distinct. */
export const processId = `${hostname()}_${process.pid}_${randomBytes(4).toString('hex')}`;

/**
 * `sluice run` is a fleet of one process: a clean exit releases the claims, and those of a crashed process expire. Processes
 * that elect a leader with one Lease are one fleet, so the next leader need not wait for the claim.
 */
export function processFleet(election?: LeaderElectionConfiguration): FleetIdentity {
  const name = 'sluice run';
  if (election === undefined) return { name, id: async () => processId, releases: true };
  return { name, id: async () => `${election.resourceNamespace}.${election.resourceName}` };
}
