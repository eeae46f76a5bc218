import { beforeEach, expect, test } from 'vitest';
import { ReplacedValues } from './replaced-values.ts';

const key = 'c/shop/web';
const scope = 'reconciler/0';
let values: ReplacedValues;

beforeEach(() => {
  values = new ReplacedValues();
});

test('a replaced value is unread until an owner claims its scope or stores another value', () => {
  values.replaced(scope, `${key}\nservice`, '{"a":1}');
  expect(values.isUnread(scope, `${key}\nservice`, '{"a":1}')).toBe(true);
  expect(values.isUnread(scope, `${key}\nservice`, '{"a":2}')).toBe(false);
  expect(values.isUnread(scope, `${key}\npod/p`, '{"a":1}')).toBe(false);
  values.claimed('reconciler/1');
  expect(values.isUnread(scope, `${key}\nservice`, '{"a":1}')).toBe(true);
  values.claimed(scope);
  expect(values.isUnread(scope, `${key}\nservice`, '{"a":1}')).toBe(false);
});

test('of the state of a controller, an owner may keep replaced counts, and nothing that it waits for', () => {
  const counted = { endpoints: 1, slices: 1, desiredSlices: 1 };
  const replaced = { timers: { dueAt: 5 }, retries: { parked: 'invalid' }, trackers: { counted } };
  values.replaced(scope, `${key}\ncontroller/endpointslice`, JSON.stringify(replaced));
  const own = { counted: { endpoints: 3, slices: 3 } };
  expect(values.remembered(key, 'controller/endpointslice', own)).toEqual({ counted: { endpoints: 1, slices: 1 } });
  expect(values.remembered(key, 'controller/endpoints', own)).toBe(own);
});

test('an owner that has stored other counts must not have the replaced ones', () => {
  const field = 'controller/endpointslice';
  const counted = { endpoints: 1, slices: 1, desiredSlices: 1 };
  const commit = (value: object) => ({
    ...{ scope, fencingToken: 1, expectedOffset: 0, checkpoint: { offset: 0, id: '', streamId: '' } },
    entries: [{ key, field, value }],
  });
  values.replaced(scope, `${key}\n${field}`, JSON.stringify({ trackers: { counted } }));
  values.committed(commit({ timers: { dueAt: 7 }, trackers: { counted } }));
  expect(values.remembered(key, field, {})).toEqual({ counted: { endpoints: 1, slices: 1 } });
  values.committed(commit({ trackers: { counted: { ...counted, endpoints: 2 } } }));
  values.committed(commit({ trackers: { counted } }));
  expect(values.remembered(key, field, {})).toEqual({});
});

test('an owner may keep replaced trigger times, also those of a plan in flight', () => {
  values.replaced(scope, `${key}\ncontroller/endpoints:after`, '{"service":"t","pods":{"p":"t"}}');
  const kept = values.remembered(key, 'controller/endpoints:triggers', { service: 'u' });
  expect(kept).toEqual({ service: 't', pods: { p: 't' } });
});

test('a replaced object must not stay', () => {
  values.replaced(scope, `${key}\npod/p`, '{"pod":null,"node":null}');
  expect(values.remembered(key, 'pod/p', 'own')).toBe('own');
});
