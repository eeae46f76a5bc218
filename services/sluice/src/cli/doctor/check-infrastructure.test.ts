import type { ParkedKey } from '@sluice/console';
import type { ClusterSource } from '@sluice/fleet/clusters';
import { resolve } from '@sluice/fleet/configuration/testing';
import { noCauses } from '@sluice/messages';
import { expect, test } from 'vitest';
import { historyCheck, identityCheck, parkedCheck, storedClustersCheck } from './check-infrastructure.ts';

const parked = (service: string, reason: string): ParkedKey => ({
  name: `c/shop/${service}/endpointslice`,
  key: { cluster: 'c', namespace: 'shop', service },
  controller: 'endpointslice',
  ...{ reason, since: 1, nextTryAt: null, causes: noCauses },
});

test('parked Services cause a warning, held-back changes first', () => {
  expect(parkedCheck('bus and store', [])).toMatchObject({ result: 'ok' });
  const refused = parked('a', 'forbidden\nby a webhook');
  expect(parkedCheck('bus and store', [refused])).toMatchObject({
    result: 'warning',
    detail: '1 parked: c/shop/a/endpointslice, forbidden',
    advice: expect.stringContaining('docs/operations/runbooks/parked-services.md'),
  });
  const held = parked('b', 'removal held back: 3 ready endpoints would be removed, but Pod p is ready');
  expect(parkedCheck('bus and store', [refused, held])).toMatchObject({
    detail: expect.stringMatching(/^2 parked, 1 with a held-back change: c\/shop\/b/),
    advice: expect.stringContaining('docs/operations/runbooks/mass-removal.md'),
  });
  const added = parked('b', 'addition held back: 3 new addresses would be added, but Pod p does not exist');
  expect(parkedCheck('bus and store', [refused, added])).toMatchObject({
    detail: expect.stringMatching(/^2 parked, 1 with a held-back change: c\/shop\/b/),
    advice: expect.stringContaining('docs/operations/runbooks/mass-addition.md'),
  });
});

test('a cluster identity in conflict fails the check', () => {
  expect(identityCheck('bus and store', [])).toMatchObject({ result: 'ok' });
  const conflict = { name: 'staging', identity: 'uid', authorities: [], server: 'https://staging' };
  const reason = 'https://staging has the identity of cluster prod';
  const check = identityCheck('bus and store', [{ ...conflict, reason, kind: 'identity', decided: false }]);
  expect(check).toMatchObject({ result: 'failed', detail: `conflict of staging: ${reason}` });
  expect(check.advice).toContain('sluice clusters accept NAME');
});

const reading = (read: ClusterSource['read']): ClusterSource => ({ about: 'a directory', read });
const listing = reading(async () => ({ candidates: [{ name: 'east' } as never], problems: [] }));
const west = { name: 'west', identities: ['uid-west'], pinned: true };

test('a cluster that is stored, but neither configured nor watched, is named', async () => {
  const east = { ...west, name: 'east' };
  const elsewhere = { ...west, name: 'north', watchedBy: 'b' };
  expect(await storedClustersCheck('store', [east, elsewhere], [listing])).toMatchObject([{ result: 'ok' }]);
  expect(await storedClustersCheck('store', [east, elsewhere, west], [listing])).toMatchObject([
    {
      result: 'warning',
      detail: expect.stringContaining('west: stored'),
      advice: expect.stringContaining('forget west'),
    },
  ]);
});

test('no stored cluster is named while a source that may list it cannot be read', async () => {
  const broken = reading(() => Promise.reject(new Error('permission denied')));
  expect(await storedClustersCheck('store', [west], [listing, broken])).toEqual([]);
});

const found = (file: string) => historyCheck(resolve({ file }).configuration);

test('an in-memory bus keeps history since the process started', () => {
  expect(found('{}')).toMatchObject({
    result: 'ok',
    detail: expect.stringMatching(/since process start, at most 24h/),
  });
});

test('the shorter retention of bus and console applies; a shorter one of the bus causes a warning', () => {
  const bus = (more = '') => `bus: { kind: nats, servers: [nats://127.0.0.1:4222]${more} }\n`;
  expect(found(bus())).toMatchObject({ result: 'ok', detail: '24h, at most 128 MiB per console' });
  expect(found(`${bus()}console: { retention: 1h }\n`)).toMatchObject({
    result: 'ok',
    detail: expect.stringMatching(/^1h,/),
  });
  expect(found(bus(', maxAge: { changes: 2h }'))).toMatchObject({
    result: 'warning',
    detail: expect.stringMatching(/^2h, .* limited by the bus, although console.retention is 24h$/),
    advice: 'raise bus.maxAge.changes, or lower console.retention',
  });
});
