import { beforeEach, expect, test } from 'vitest';
import type { RawObject, WatchEvent } from './cluster.ts';
import { InitialEvents } from './initial-events.ts';

const object = (name: string, version: string, namespace?: string): RawObject => ({
  metadata: { ...(namespace !== undefined && { namespace }), name, resourceVersion: version },
});
const event = (type: 'ADDED' | 'MODIFIED' | 'DELETED', of: RawObject): WatchEvent => ({ type, object: of });
const bookmark = (resourceVersion: string): WatchEvent => ({ type: 'BOOKMARK', resourceVersion });
const end = (resourceVersion: string): WatchEvent => ({ type: 'BOOKMARK', resourceVersion, initialEventsEnd: true });

let initial: InitialEvents<string>;

/** Decodes to `namespace/name@version`; not an object whose name is `bad`. */
beforeEach(() => {
  initial = new InitialEvents(({ metadata }) => {
    const { namespace = '', name, resourceVersion } = metadata as Readonly<Record<string, string>>;
    return name === 'bad' ? undefined : { value: `${namespace}/${name}@${resourceVersion}` };
  });
});

test('the list is complete at the closing bookmark, and what follows in its batch is no part of it', () => {
  const later = event('ADDED', object('b', '11', 'ns'));
  expect(initial.add([event('ADDED', object('a', '3', 'ns'))])).toBeUndefined();
  expect(initial.add([bookmark('5')])).toBeUndefined();
  expect(initial.add([event('ADDED', object('c', '9', 'ns')), end('10'), later])).toEqual({
    ...{ resourceVersion: '10', rest: [later] },
  });
  expect(initial.objects()).toEqual(['ns/a@3', 'ns/c@9']);
});

test('objects of the same name in different namespaces, and without one, are different', () => {
  initial.add([
    event('ADDED', object('a', '1', 'x')),
    event('ADDED', object('a', '2', 'y')),
    event('ADDED', object('a', '3')),
  ]);
  initial.add([event('DELETED', object('a', '4', 'x'))]);
  expect(initial.objects()).toEqual(['y/a@2', '/a@3']);
});

test('an object that changes while the initial events are sent counts once, as it was last', () => {
  initial.add([event('ADDED', object('a', '1')), event('MODIFIED', object('a', '2'))]);
  expect(initial.objects()).toEqual(['/a@2']);
});

test('an object that cannot be decoded is left out', () => {
  initial.add([event('ADDED', object('bad', '1')), event('ADDED', object('a', '1'))]);
  expect(initial.objects()).toEqual(['/a@1']);
});
