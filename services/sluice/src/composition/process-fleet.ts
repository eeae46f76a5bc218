import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type { FleetIdentity } from '@sluice/clusters';

const id = `${hostname()}_${process.pid}_${randomBytes(4).toString('hex')}`;

/**
 * `sluice run` is a fleet of one process. Its id is new with each start, so that two processes of one host are distinct;
 * a clean exit releases the claims, and those of a crashed process expire.
 */
export const processFleet: FleetIdentity = { name: 'sluice run', id: async () => id, releases: true };
