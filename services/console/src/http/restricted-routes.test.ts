import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Place } from '../access/reader.ts';
import {
  clusters,
  fleetOwner,
  keyIn,
  nodeOf,
  type Permissions,
  places,
  serveManyNamespaces,
  traceOf,
} from '../testing/many-namespaces.ts';
import { eventRoutes } from './event-routes.ts';
import type { Route } from './route.ts';
import { routes } from './routes.ts';

const granted = fc.oneof(
  fc.constantFrom('silent' as const, 'unauthenticated' as const, 'all' as const),
  fc.subarray([0, 1, 2]).map((numbers) => new Set(numbers)),
);
const permissions = fc.array(granted, { minLength: clusters.length, maxLength: clusters.length }).map(
  (grants): Permissions =>
    new Map(
      clusters.map(({ identity, name }, i) => {
        const grant = grants[i] ?? 'unauthenticated';
        return [identity, typeof grant === 'string' ? grant : new Set([...grant].map((n) => `ns${n}-${name}`))];
      }),
    ),
);
const everything: Permissions = new Map(clusters.map(({ identity }) => [identity, 'all']));

const grantOf = (given: Permissions, cluster: string) => given.get(cluster) ?? 'unauthenticated';
const isWhole = (given: Permissions, cluster: string) => grantOf(given, cluster) === 'all';
function isAllowed(given: Permissions, { cluster, namespace }: Place): boolean {
  const grant = grantOf(given, cluster);
  return grant === 'all' || (typeof grant === 'object' && grant.has(namespace));
}

/** What no response may contain. */
function forbiddenNames(given: Permissions): readonly string[] {
  const isFleet = clusters.every(({ identity }) => isWhole(given, identity));
  return [
    ...places.filter((place) => !isAllowed(given, place)).map(({ namespace }) => namespace),
    ...clusters.flatMap(({ identity, name }) => {
      const isUnknown = typeof grantOf(given, identity) === 'string' && !isWhole(given, identity);
      return [
        ...(isUnknown ? [identity, `https://${name}`] : []),
        ...(isWhole(given, identity) ? [] : [nodeOf(identity), `watcher-of-${name}`]),
      ];
    }),
    ...(isFleet ? [] : [fleetOwner]),
  ];
}

/** Requests of a route for each place, if it names one, and with each query that limits it. */
function requestsOf({ path, query }: Pick<Route, 'path' | 'query'>): readonly string[] {
  const values: Readonly<Record<string, (place: Place, index: number) => string>> = {
    cluster: ({ cluster }) => cluster,
    namespace: ({ namespace }) => namespace,
    service: (place) => keyIn(place).service,
    pod: ({ namespace }) => `pod-${namespace}`,
    trace: (_, index) => traceOf(index),
  };
  const paths = places.map((place, index) =>
    path.replaceAll(/:([a-z]+)/g, (_, name: string) => {
      const value = values[name];
      if (value === undefined) throw new Error(`this test has no value for :${name}`);
      return value(place, index);
    }),
  );
  const queries = places.flatMap(({ cluster, namespace }) => [
    ...('cluster' in query.shape ? [`?cluster=${cluster}`] : []),
    ...('namespace' in query.shape ? [`?namespace=${namespace}`, `?cluster=${cluster}&namespace=${namespace}`] : []),
    ...('limit' in query.shape ? ['?limit=1'] : []),
    ...('node' in query.shape ? [`?node=${nodeOf(cluster)}`] : []),
  ]);
  return [...new Set([...paths, ...queries.map((one) => paths[0] + one)])];
}

/** The names that a request contains itself, which the response may repeat. */
const without = (request: string, names: readonly string[]) => names.filter((name) => !request.includes(name));

const found = (text: string, names: readonly string[]) => names.filter((name) => text.includes(name));
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('with random permissions', () => {
  test('no response contains a name that the reader may not see', async () => {
    const readers = new Map<string, Permissions>();
    const { get, json } = await serveManyNamespaces(readers);
    const requests = [...routes.flatMap(requestsOf), '/', '/api/v1/openapi.json'];
    await fc.assert(
      fc.asyncProperty(permissions, async (given) => {
        const token = `reader-${readers.size}`;
        readers.set(token, given);
        const forbidden = forbiddenNames(given);
        for (const request of requests) {
          const { status, headers, body } = await get(request, bearer(token));
          const shown = found(JSON.stringify(headers) + body, without(request, forbidden));
          expect([request, status, shown]).toEqual([request, status, []]);
        }
        const allowed = places.filter((place) => isAllowed(given, place));
        if (allowed.length === 0) return;
        const { items, total } = JSON.parse((await get('/api/v1/services', bearer(token))).body);
        expect(items.map(({ namespace }: Place) => namespace).sort()).toEqual(
          allowed.map(({ namespace }) => namespace).sort(),
        );
        expect(total).toBe(allowed.length);
      }),
      { numRuns: 30, examples: [[new Map()]] },
    );
    expect(await json('/api/v1/services')).toEqual({
      error: 'a token of the cluster is required',
      hint: 'send yours as Authorization: Bearer TOKEN, or open /?token=TOKEN once',
    });
  });

  test('no stream does either', async () => {
    const readers = new Map<string, Permissions>();
    const { port, clock, changeAll } = await serveManyNamespaces(readers);
    let sequence = 10;
    await fc.assert(
      fc.asyncProperty(permissions, async (given) => {
        const token = `reader-${readers.size}`;
        readers.set(token, given);
        const allowed = places.filter((place) => isAllowed(given, place)).map(({ namespace }) => namespace);
        for (const request of eventRoutes.flatMap(requestsOf)) {
          const forbidden = without(request, forbiddenNames(given));
          const stop = new AbortController();
          onTestFinished(() => stop.abort());
          const response = await fetch(`http://127.0.0.1:${port}${request}`, {
            headers: bearer(token),
            signal: stop.signal,
          });
          if (!response.ok || response.body === null) {
            expect(found(await response.text(), forbidden)).toEqual([]);
            continue;
          }
          const isOfAll = request === '/api/v1/stream';
          const wanted = isOfAll ? allowed : allowed.filter((namespace) => request.includes(namespace));
          let text = '';
          const reading = (async () => {
            for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
          })().catch(() => {});
          changeAll(sequence++);
          await expect
            .poll(() => {
              clock.step(clock.now() + 300);
              return found(text, wanted).length;
            })
            .toBe(wanted.length);
          expect(found(text, forbidden)).toEqual([]);
          stop.abort();
          await reading;
        }
      }),
      { numRuns: 20 },
    );
  });
});

test('a reader of all clusters gets what a console without readers shows', async () => {
  const all = await serveManyNamespaces(undefined);
  const { get } = await serveManyNamespaces(new Map([['reader', everything]]));
  for (const request of routes.flatMap(requestsOf)) {
    const { status, body } = await get(request, bearer('reader'));
    expect([request, status, JSON.parse(body)]).toEqual([request, 200, await all.json(request)]);
  }
});

test('each route says what it is about, and one of a Service names it in its path', () => {
  for (const { path, scope } of [...routes, ...eventRoutes])
    expect([path, scope === 'service']).toEqual([
      path,
      /^\/api\/v1\/services\/:cluster\/:namespace\/:service/.test(path),
    ]);
});
