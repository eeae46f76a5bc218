import type { StringMap } from '@sluice/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ServiceSelectorCache } from './service-selector-cache.ts';

describe('ServiceSelectorCache (C9)', () => {
  it('matches all pairs within the namespace, and follows updates', () => {
    const cache = new ServiceSelectorCache();
    cache.update('shop', 'web', { app: 'web', tier: 'front' });
    cache.update('shop', 'all', {});
    cache.update('shop', 'custom', null);
    cache.update('other', 'web', { app: 'web' });
    expect(cache.servicesFor('shop', { app: 'web', tier: 'front', x: 'y' }).sort()).toEqual(['all', 'web']);
    expect(cache.servicesFor('shop', { app: 'web' })).toEqual(['all']);
    expect(cache.servicesFor('shop', null)).toEqual(['all']);
    cache.update('shop', 'web', { app: 'web' });
    cache.update('shop', 'all', null);
    expect(cache.servicesFor('shop', { app: 'web' })).toEqual(['web']);
    cache.delete('shop', 'web');
    expect(cache.servicesFor('shop', { app: 'web' })).toEqual([]);
    expect(cache.servicesFor('nowhere', { app: 'web' })).toEqual([]);
  });

  it('lists the Services of a namespace with a selector, unless there are very many', () => {
    const cache = new ServiceSelectorCache();
    cache.update('shop', 'web', { app: 'web' });
    cache.update('shop', 'all', {});
    cache.update('shop', 'custom', null);
    expect(cache.servicesOf('shop', 2)).toEqual(['web', 'all']);
    expect(cache.servicesOf('shop', 1)).toEqual([]);
    expect(cache.servicesOf('other', 1)).toEqual([]);
  });

  it('does not mistake built-in property names for labels', () => {
    const cache = new ServiceSelectorCache();
    cache.update('shop', 'odd', { constructor: 'x' });
    expect(cache.servicesFor('shop', {})).toEqual([]);
    expect(cache.servicesFor('shop', { constructor: 'x' })).toEqual(['odd']);
  });

  it('agrees with matching every Service', () => {
    const labels = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('', '1', '2'));
    const change = fc.tuple(fc.constantFrom('s', 't', 'u', 'v'), fc.option(labels, { nil: null }));
    fc.assert(
      fc.property(fc.array(change), labels, (changes, pod) => {
        const cache = new ServiceSelectorCache();
        for (const [name, selector] of changes) cache.update('ns', name, selector);
        const latest = new Map<string, StringMap | null>(changes);
        const matching = [...latest].filter(
          ([, selector]) => selector !== null && Object.entries(selector).every(([key, value]) => pod[key] === value),
        );
        expect(cache.servicesFor('ns', pod).sort()).toEqual(matching.map(([name]) => name).sort());
      }),
    );
  });
});
