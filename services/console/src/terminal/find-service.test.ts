import { describe, expect, test } from 'vitest';
import { type ConsoleClient, QueryError } from '../client/console-client.ts';
import type { Overview } from '../view/schemas.ts';
import { findService, parseServiceName, qualified } from './find-service.ts';

type Cluster = Overview['clusters'][number];
const cluster = (name: string, given: Partial<Cluster> = {}): Cluster => ({
  ...{ identity: `uid-${name}`, name, version: '', server: '', state: '', services: 1 },
  ...given,
});
const outage = { since: 0, reason: 'connection refused' };

/** Clusters that have a Service of this name, and clusters where it was deleted. */
function consoleWith(having: readonly string[], deleted: readonly string[] = []) {
  const queries: unknown[] = [];
  const client = {
    services: async (query: { readonly status?: string }) => {
      queries.push(query);
      const names = query.status === 'deleted' ? deleted : having;
      const items = names.map((name) => ({ cluster: `uid-${name}`, clusterName: name, name: 'web' }));
      return { items: [...items, { cluster: 'uid-x', clusterName: 'x', name: 'web-2' }] };
    },
  } as unknown as ConsoleClient;
  return { client, queries };
}
const find = (client: ConsoleClient, clusters: readonly Cluster[], wanted?: string) =>
  findService(client, { clusters } as Overview, 'shop/web', wanted);
const [west, east] = [cluster('west'), cluster('east')];
const { client: nobody } = consoleWith([]);

describe('the cluster of a Service', () => {
  test('is the given one, by name or UID', async () => {
    expect(await find(nobody, [west, east], 'east')).toEqual({ cluster: 'east', namespace: 'shop', service: 'web' });
    expect(await find(nobody, [west, east], 'uid-east')).toMatchObject({ cluster: 'uid-east' });
  });

  test('is the only one, whether the console knows the Service or not', async () => {
    expect(await find(nobody, [west])).toEqual({ cluster: 'uid-west', namespace: 'shop', service: 'web' });
  });

  test('is the one that has it or, if none has, in which it was deleted', async () => {
    const { client, queries } = consoleWith(['east']);
    expect(await find(client, [west, east])).toMatchObject({ cluster: 'uid-east' });
    expect(queries).toEqual([
      { namespace: 'shop', q: 'shop/web', limit: 1_000 },
      { namespace: 'shop', q: 'shop/web', limit: 1_000, status: 'deleted' },
    ]);
    expect(await find(consoleWith([], ['west']).client, [west, east])).toMatchObject({ cluster: 'uid-west' });
  });
});

describe('a Service that is not found', () => {
  test('may have no history, if there are more Services than the console keeps', async () => {
    const overview = { clusters: [west, east], servicesLimit: 7 } as unknown as Overview;
    await expect(findService(nobody, overview, 'shop/web', undefined)).rejects.toThrow(
      /known clusters: west, east\nonly 7 Services have a history \(console\.maxServices\)/,
    );
  });

  const silent = cluster('west', { services: 0, outage });

  test.each<[RegExp, readonly Cluster[], string | undefined]>([
    [/^the console has no clusters yet$/, [], undefined],
    [/^the console has no clusters yet$/, [], 'west'],
    [/^cluster north not found; known clusters: west, east$/, [west, east], 'north'],
    [/^no history for Service shop\/web in any cluster; known clusters: west, east$/, [west, east], undefined],
    [
      /known clusters: west, east\nwest has not answered since [-0-9: ]+ \(connection refused\)$/,
      [silent, east],
      undefined,
    ],
    [
      /^west has not answered since [-0-9: ]+ \(connection refused\); this console has no history of it$/,
      [silent],
      'west',
    ],
  ])('%s', async (message, clusters, wanted) => {
    const found = find(nobody, clusters, wanted);
    await expect(found).rejects.toThrow(QueryError);
    await expect(found).rejects.toThrow(message);
  });

  test('a cluster that does not answer, but of which there is a history, can be asked for', async () => {
    expect(await find(nobody, [cluster('west', { outage })], 'west')).toMatchObject({ cluster: 'west' });
    expect(await find(nobody, [cluster('west', { services: 0 })], 'west')).toMatchObject({ cluster: 'west' });
  });

  test('or is found in several clusters, also if it was deleted in one', async () => {
    await expect(find(consoleWith(['west'], ['east']).client, [west, east])).rejects.toThrow(
      'Service shop/web exists in several clusters; pass --cluster with one of: west, east',
    );
  });
});

test('a Service is named with its namespace', () => {
  expect(parseServiceName('shop/web')).toEqual({ namespace: 'shop', service: 'web' });
  for (const text of ['web', 'shop/', '/web', 'a/b/c', ''])
    expect(() => parseServiceName(text)).toThrow('NAMESPACE/SERVICE');
  expect(qualified('web', 'shop')).toBe('shop/web');
});
