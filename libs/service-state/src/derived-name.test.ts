import type { EndpointSlice, MutationGroup } from '@sluice/model';
import { describe, expect, test } from 'vitest';
import { withDerivedNames } from './derived-name.ts';

const slice = (generateName: string, name = ''): EndpointSlice => ({
  metadata: { name, namespace: 'shop', generateName },
  addressType: 'IPv4',
});

const group = (...bases: string[]): MutationGroup => ({
  mutations: bases.map((base) => ({ verb: 'create', resource: 'endpointslices', object: slice(base) })),
});

function names(groups: readonly MutationGroup[], owner = 'uid', epoch = 1, number = 1): string[] {
  return namesOf(withDerivedNames(groups, { ...options, ownerUid: owner, plan: { epoch, number } }));
}

const namesOf = (groups: readonly MutationGroup[]): string[] =>
  groups.flatMap(({ mutations }) =>
    mutations.map((mutation) => (mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name)),
  );

const options = {
  ...{ ownerUid: 'uid', controller: 'endpointslice' as const, plan: { epoch: 1, number: 1 } },
  isTaken: () => false,
};

describe('a derived name', () => {
  test.each(['web-', `${'x'.repeat(57)}-`, `${'x'.repeat(62)}-`, `${'x'.repeat(250)}-`])(
    'has the form of a generated one (K1) on %s',
    (base) => {
      const [name = ''] = names([group(base)]);
      expect(name.length).toBeLessThanOrEqual(63);
      expect(name.startsWith(base.slice(0, 58))).toBe(true);
      expect(name.slice(Math.min(base.length, 58))).toMatch(/^[bcdfghjklmnpqrstvwxz2456789]{5}$/);
    },
  );

  test('is the same for the same plan', () => {
    const groups = [group('web-', 'web-'), group('web-')];
    expect(names(groups)).toEqual(names(groups));
  });

  test('differs by owner, epoch, number and place', () => {
    const all = new Set<string>();
    for (const owner of ['u1', 'u2']) {
      for (const epoch of [1, 2, 11]) {
        for (let number = 1; number <= 40; number++) {
          for (const name of names([group('web-', 'web-'), group('web-', 'web-')], owner, epoch, number)) all.add(name);
        }
      }
    }
    expect(all.size).toBe(2 * 3 * 40 * 4);
  });

  test('differs by controller', () => {
    const [slices, mirrored] = (['endpointslice', 'endpointslicemirroring'] as const).map((controller) =>
      JSON.stringify(withDerivedNames([group('web-')], { ...options, controller })),
    );
    expect(slices).not.toBe(mirrored);
  });

  const replacing = { ...options, plan: { epoch: 2, number: 7 }, unconfirmed: { epoch: 1, number: 1 } };

  test('is the next one of an unconfirmed plan that no known slice has', () => {
    const [first = '', second = '', third = ''] = names([group('web-', 'web-', 'web-')], 'uid', 1, 1);
    expect(namesOf(withDerivedNames([group('web-', 'web-')], replacing))).toEqual([first, second]);
    const isTaken = (name: string) => name === second;
    expect(namesOf(withDerivedNames([group('web-', 'web-')], { ...replacing, isTaken }))).toEqual([first, third]);
  });

  test('is the same for every plan that replaces an unconfirmed one, also in place of a taken name', () => {
    const groups = [group('web-', 'web-')];
    const [first] = names(groups, 'uid', 1, 1);
    const isTaken = (name: string) => name === first;
    const named = [7, 8].map((number) =>
      namesOf(withDerivedNames(groups, { ...replacing, plan: { epoch: 2, number }, isTaken })),
    );
    expect(named[0]).toEqual(named[1]);
    expect(named[0]).not.toContain(first);
  });

  test('is the one of an unconfirmed plan that created less or more before it', () => {
    const update: MutationGroup = {
      mutations: [{ verb: 'update', resource: 'endpointslices', object: slice('web-', 'web-1') }],
    };
    const [first = ''] = names([group('web-')], 'uid', 1, 1);
    expect(namesOf(withDerivedNames([update, group('web-')], replacing))).toEqual(['web-1', first]);
  });

  test('uses the whole alphabet of the API server at every position (K1)', () => {
    const seen = Array.from({ length: 5 }, () => new Set<string>());
    for (let number = 1; number <= 2_000; number++) {
      const suffix = names([group('web-')], 'uid', 1, number)[0]?.slice(-5) ?? '';
      for (const [i, place] of seen.entries()) place.add(suffix[i] ?? '');
    }
    for (const letters of seen) expect([...letters].sort().join('')).toBe('2456789bcdfghjklmnpqrstvwxz');
  });

  test('is given only to slices with generateName', () => {
    const recycled: MutationGroup = {
      mutations: [
        { verb: 'update', resource: 'endpointslices', object: slice('web-', 'web-old') },
        { verb: 'create', resource: 'endpoints', object: { metadata: { name: 'web', namespace: 'shop' } } },
        { verb: 'create', resource: 'endpointslices', object: slice('web-', 'web-given') },
        { verb: 'delete', resource: 'endpointslices', name: 'web-x' },
      ],
    };
    expect(names([recycled])).toEqual(['web-old', 'web', 'web-given', 'web-x']);
  });

  test('keeps generateName, as an API server does', () => {
    const [named] = withDerivedNames([group('web-')], options);
    expect(named?.mutations[0]).toMatchObject({ object: { metadata: { generateName: 'web-' } } });
  });
});
