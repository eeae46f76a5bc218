import { expect, test } from 'vitest';
import { parseWrite } from './write.ts';

const event = (change: object) =>
  JSON.stringify({
    auditID: 'a',
    stage: 'ResponseComplete',
    verb: 'update',
    user: { username: 'sluice' },
    objectRef: { resource: 'endpointslices', namespace: 'shop', name: 'web-1' },
    responseStatus: { code: 200 },
    requestObject: {
      metadata: { name: 'web-1', resourceVersion: '7' },
      addressType: 'IPv4',
      endpoints: [
        { addresses: ['10.0.0.1'], conditions: { ready: true }, targetRef: { name: 'p1' } },
        { addresses: ['10.0.0.2'], conditions: { ready: false }, targetRef: { name: 'p2' } },
      ],
    },
    responseObject: { metadata: { resourceVersion: '9' } },
    requestReceivedTimestamp: '2026-01-01T00:00:01.000250Z',
    stageTimestamp: '2026-01-01T00:00:01.100000Z',
    ...change,
  });

test('an update', () => {
  const second = Date.parse('2026-01-01T00:00:01Z');
  const write = parseWrite(event({}));
  expect(write).toMatchObject({
    user: 'sluice',
    verb: 'update',
    name: 'web-1',
    precondition: '7',
    stored: '9',
    code: 200,
    ready: ['p1'],
  });
  expect(write?.receivedAt).toBeCloseTo(second + 0.25, 3);
  expect(write?.answeredAt).toBeCloseTo(second + 100, 3);
});

test('a create takes its name from the body, a delete has preconditions', () => {
  const objectRef = { resource: 'endpoints', namespace: 'shop' };
  expect(parseWrite(event({ verb: 'create', objectRef }))).toMatchObject({ name: 'web-1', resource: 'endpoints' });
  const requestObject = { kind: 'DeleteOptions', preconditions: { uid: 'u', resourceVersion: '8' } };
  expect(parseWrite(event({ verb: 'delete', requestObject }))).toMatchObject({ precondition: '8', contentDigest: '' });
  expect(parseWrite(event({ verb: 'delete', requestObject: undefined }))).toMatchObject({ precondition: '' });
});

test.each(['patch', 'deletecollection'])('a %s is a write too, although Sluice never uses it', (verb) => {
  expect(parseWrite(event({ verb }))).toMatchObject({ verb });
});

test('ready addresses of Endpoints', () => {
  const subsets = [
    { addresses: [{ ip: '10.0.0.1', targetRef: { name: 'p1' } }], notReadyAddresses: [{ targetRef: { name: 'p2' } }] },
  ];
  const objectRef = { resource: 'endpoints', namespace: 'shop', name: 'web' };
  expect(parseWrite(event({ objectRef, requestObject: { subsets } }))?.ready).toEqual(['p1']);
});

test.each([
  ['a read', { verb: 'get' }],
  ['another resource', { objectRef: { resource: 'pods', namespace: 'shop', name: 'p' } }],
  ['an incomplete request', { stage: 'ResponseStarted' }],
])('%s is not a write', (_, change) => {
  expect(parseWrite(event(change))).toBeUndefined();
});
