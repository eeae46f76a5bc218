import type { StringMap } from '@sluice/model';
import { aPodNamed, aService } from '@sluice/model/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { equalSelectors, Indexer } from './indexer.ts';

const service = (name: string, selector: StringMap | null) => aService({ namespace: 'ns', name, selector });
const pod = (name: string) => aPodNamed(name, { namespace: 'ns' });

const labels = fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2'), { maxKeys: 2 });
const step = fc.oneof(
  fc.record({ pod: fc.constantFrom('p', 'q', 'r'), labels: fc.option(labels) }),
  fc.record({ service: fc.constantFrom('x', 'y'), selector: fc.option(labels), exists: fc.boolean() }),
  fc.record({ query: fc.constantFrom('x', 'y') }),
);

test('podsOfService always returns the Pods whose labels match the selector', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const indexer = new Indexer();
      const pods = new Map<string, StringMap>();
      const selectors = new Map<string, StringMap | null>();
      for (const s of steps) {
        if ('pod' in s) {
          if (s.labels === null) {
            indexer.deletePod('ns', s.pod);
            pods.delete(s.pod);
          } else {
            indexer.setPod({ pod: pod(s.pod), labels: s.labels });
            pods.set(s.pod, s.labels);
          }
        } else if ('service' in s) {
          if (s.exists) {
            indexer.setService(service(s.service, s.selector));
            selectors.set(s.service, s.selector);
          } else {
            indexer.deleteService('ns', s.service);
            selectors.delete(s.service);
          }
        } else {
          const selector = selectors.get(s.query) ?? null;
          const expected = [...pods].filter(
            ([, has]) => selector !== null && Object.entries(selector).every(([key, value]) => has[key] === value),
          );
          const members = [...indexer.podsOfService(`ns/${s.query}`).keys()];
          expect(members.sort()).toEqual(expected.map(([name]) => name).sort());
        }
      }
    }),
    { numRuns: 500 },
  );
});

test.each<[StringMap | null, StringMap | null, boolean]>([
  [null, null, true],
  [null, {}, false],
  [{}, {}, true],
  [{ a: '1' }, { a: '1' }, true],
  [{ a: '1' }, { a: '2' }, false],
  [{ a: '1' }, { a: '1', b: '2' }, false],
  [{ a: '1', b: '2' }, { b: '2', a: '1' }, true],
])('selectors %j and %j are equal: %s', (a, b, same) => {
  expect(equalSelectors(a, b)).toBe(same);
});
