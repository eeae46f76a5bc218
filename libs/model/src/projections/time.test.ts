import { expect, it } from 'vitest';
import { malformation } from '../testing/malformation.ts';
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
