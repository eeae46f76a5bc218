import { VirtualClock } from '@sluice/platform';
import { describe, expect, test } from 'vitest';
import { History } from '../history/history.ts';
import { snapshot, toAppend } from '../testing/records.ts';
import type { Entry } from '../view/entry-schemas.ts';
import { entryFilter, findJournal } from './find-journal.ts';
import { Problem } from './problem.ts';
import type { RouteContext } from './route-context.ts';

/** A console that knows these Services of cluster c1, which is called west. */
function contextWith(...names: readonly string[]): RouteContext {
  const history = new History({ clock: new VirtualClock(0) });
  for (const name of names) history.add('changes', 0, { ...toAppend(snapshot(1, 0, [])), key: `c1/${name}` });
  const clusters = () => [{ identity: 'c1', name: 'west', version: '', server: '', state: '' }];
  return { history, sources: { clusters } } as unknown as RouteContext;
}

function problemOf(context: RouteContext, cluster: string, namespace: string, service: string): Problem {
  try {
    findJournal(context, { cluster, namespace, service });
  } catch (error) {
    if (error instanceof Problem) return error;
  }
  return expect.unreachable();
}

test('a Service is found by the name or the UID of its cluster', () => {
  const context = contextWith('shop/web');
  for (const cluster of ['west', 'c1'])
    expect(findJournal(context, { cluster, namespace: 'shop', service: 'web' }).key.cluster).toBe('c1');
});

describe('an unknown Service', () => {
  test('is named with the name of its cluster', () => {
    const message = 'no history for Service shop/web in cluster west';
    expect(problemOf(contextWith(), 'c1', 'shop', 'web')).toMatchObject({ status: 404, message });
    expect(problemOf(contextWith(), 'west', 'shop', 'web').message).toBe(message);
    expect(problemOf(contextWith(), 'east', 'shop', 'web').message).toContain('in cluster east');
    expect(problemOf(contextWith(), 'c1', 'shop', 'web').hint).toBe('no Service of this cluster has been observed yet');
  });

  test.each<[string, string, string[]]>([
    ['the same name in another namespace', 'shop/web', ['pay/web', 'shop/wex', 'pay/wex']],
    ['a longer common start in the same namespace', 'shop/cart', ['shop/carx', 'shop/cx', 'shop/x']],
    ['a longer common start of the namespace', 'shop/cart', ['shx/x', 'sxx/x', 'x/x']],
    ['a name that continues it', 'shop/cart', ['shop/cart-2', 'shop/car', 'shop/c']],
  ])('first offers %s', (_, wanted, expected) => {
    const [namespace = '', service = ''] = wanted.split('/');
    const { hint } = problemOf(contextWith(...expected.toReversed()), 'c1', namespace, service);
    expect(hint).toBe(`known: ${expected.join(', ')}`);
  });

  test('may have no history, if there are more Services than the console keeps', () => {
    const context = contextWith('shop/web');
    const history = new History({ clock: new VirtualClock(0), maxServices: 1 });
    for (const name of ['web', 'cart'])
      history.add('changes', 0, { ...toAppend(snapshot(1, 0, [])), key: `c1/shop/${name}` });
    expect(problemOf({ ...context, history }, 'c1', 'shop', 'cart').hint).toMatch(
      /^only 1 Services have a history \(console\.maxServices\); .*; known: shop\/web$/,
    );
  });

  test('offers five', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => `shop/${name}`);
    expect(problemOf(contextWith(...names.slice(0, 5)), 'c1', 'shop', 'x').hint).toMatch(/^known: .* shop\/e$/);
    expect(problemOf(contextWith(...names), 'c1', 'shop', 'x').hint).toMatch(
      / shop\/e and 1 more, which the page lists$/,
    );
  });
});

describe('a filter of entries', () => {
  const causes = { first: [], more: 0 };
  const observed = (of: 'pod' | 'service', name: string) =>
    ({
      kind: 'observed',
      at: 5,
      causes,
      observations: [
        { of: 'slice', name: 'x', text: '' },
        { of, name, text: '' },
      ],
    }) as Entry;
  const endpoints = ['web-1', 'web-2'].map((pod) => ({ pod }));
  const decided = { kind: 'decided', at: 5, causes, mutations: [{ endpoints: [] }, { endpoints }] } as unknown as Entry;
  const completed = { kind: 'completed', at: 5, causes, endpoints } as unknown as Entry;

  test('selects a period that includes its ends', () => {
    const selects = (filter: Parameters<typeof entryFilter>[0]) => entryFilter(filter)(completed);
    expect([{}, { since: 5 }, { since: 6 }, { until: 5 }, { until: 4 }].map(selects)).toEqual([
      ...[true, true, false, true, false],
    ]);
  });

  test('selects what concerns a Pod', () => {
    const concerned = (pod: string) => [observed('pod', 'web-2'), decided, completed].map(entryFilter({ pod }));
    expect(concerned('web-2')).toEqual([true, true, true]);
    expect(concerned('web-3')).toEqual([false, false, false]);
    expect(entryFilter({ pod: 'web-2' })(observed('service', 'web-2'))).toBe(false);
  });
});
