import { describe, expect, it } from 'vitest';
import { malformation } from '../testing/raw-objects.ts';
import { MalformedObjectError } from './fields.ts';
import { projectNode } from './project-node.ts';
import { projectService } from './project-service.ts';

const created = (creationTimestamp: string) =>
  projectService({ metadata: { name: 'web', creationTimestamp } }).creationTimestamp;

it.each([
  ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
  ['2026-01-02T03:04:05.987Z', '2026-01-02T03:04:05Z'],
  ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05Z'],
  ['2026-01-01T23:04:05-05:30', '2026-01-02T04:34:05Z'],
])('%s is %s in UTC with whole seconds (C15)', (text, time) => {
  expect(created(text)).toBe(time);
});

it.each([
  '',
  'yesterday',
  '2026x01-02T03:04:05Z',
  '2026-01x02T03:04:05Z',
  '2026-01-02 03:04:05Z',
  '2026-01-02T03x04:05Z',
  '2026-01-02T03:04x05Z',
  '2026-01-02T03:04:05z',
  '2026-01-02T03:04:05Z and more',
  '2026-13-02T03:04:05+02:00',
])('"%s" is no time', (text) => {
  const expected = 'an RFC 3339 time';
  expect(malformation(() => created(text))).toMatchObject({ path: 'metadata.creationTimestamp', expected });
});

describe('a malformed object', () => {
  it.each([
    ['Service', 'shop', 'web', 'Service shop/web: spec is not an object'],
    ['Node', '', 'node-a', 'Node node-a: spec is not an object'],
    ['Node', '', '', 'Node (unnamed): spec is not an object'],
  ])('is named to people: a %s "%s/%s"', (kind, namespace, name, message) => {
    const error = new MalformedObjectError(kind, namespace, name, 'spec', 'an object');
    expect(error).toMatchObject({ name: 'MalformedObjectError', code: 'MALFORMED_OBJECT', message });
  });

  it.each([null, {}, { metadata: null }, { metadata: 'web' }, { metadata: { namespace: 7, name: ['web'] } }])(
    'has no name if it is unreadable: %j',
    (raw) => {
      expect(malformation(() => projectService(raw))).toMatchObject({ namespace: '', objectName: '' });
    },
  );

  it('has a name that is not empty', () => {
    const missing = { path: 'metadata.name', expected: 'a non-empty string' };
    expect(malformation(() => projectNode({ metadata: {} }))).toMatchObject(missing);
    expect(malformation(() => projectNode({ metadata: { name: '' } }))).toMatchObject(missing);
  });

  it('is not what a bug of a projection is reported as', () => {
    const throwing = {
      get type(): never {
        throw new RangeError('a bug');
      },
    };
    const raw = { metadata: { name: 'n' }, status: { conditions: [throwing] } };
    expect(() => projectNode(raw)).toThrow(RangeError);
  });
});

it.each([
  [2_147_483_647, true],
  [-2_147_483_648, true],
  [2_147_483_648, false],
  [1.5, false],
  ['80', false],
])('a port of %j fits 32 bits: %s', (port, fits) => {
  const read = () => projectService({ metadata: { name: 'web' }, spec: { ports: [{ port, targetPort: port }] } });
  if (fits) expect(read().ports[0]).toMatchObject({ port, targetPort: port });
  else expect(malformation(read).expected).toBe('a 32-bit integer');
});
