import type { DeadLetter } from '@sluice/store';
import { expect, test } from 'vitest';
import { deadLetterJson, describeDeadLetter, listDeadLetters } from './print-dead-letters.ts';

const deadLetteredAt = new Date(2026, 0, 2, 3, 4, 5).getTime();
const names = new Map([['uid', 'west']]);
const format = { width: Number.POSITIVE_INFINITY, now: new Date(2026, 0, 3).getTime(), names };

const letter = (given: Partial<DeadLetter> = {}, payload = '{\u001b[31m'): DeadLetter => ({
  name: 'changes/3/7',
  topic: 'changes',
  partition: 3,
  offset: 7,
  deadLetteredAt,
  reason: 'not JSON: expected a name\n    at line 1',
  record: {
    id: 'r',
    key: 'uid/shop/web',
    headers: { traceparent: '00-1' },
    payload: new TextEncoder().encode(payload),
  },
  ...given,
});

test('the list has a line per dead letter, with the first line of its reason', () => {
  expect(listDeadLetters([letter(), letter({ name: 'changes/12/4711' })], format)).toBe(
    'NAME              TIME                  KEY             REASON\n' +
      'changes/3/7       2026-01-02 03:04:05   west/shop/web   not JSON: expected a name\n' +
      'changes/12/4711   2026-01-02 03:04:05   west/shop/web   not JSON: expected a name\n',
  );
  const narrow = listDeadLetters([letter(), letter({ reason: 'expected a name '.repeat(9) })], {
    ...format,
    width: 60,
  });
  for (const line of narrow.split('\n')) expect(line.length, line).toBeLessThanOrEqual(60);
  expect(narrow).toContain('Time:    2026-01-02 03:04:05\n');
  expect(listDeadLetters([], format)).toBe('No dead letters.\n');
});

test('show prints the whole record with control characters escaped', () => {
  const shown = describeDeadLetter(letter(), format);
  expect(shown).toContain('From:     offset 7 of changes, partition 3\n');
  expect(shown).toContain('Key:      west/shop/web\n');
  expect(shown).toContain('Headers:  traceparent=00-1\n');
  expect(shown).toMatch(/\{\\u001b\[31m\n$/);
  expect(
    describeDeadLetter(letter({ record: { ...letter().record, payload: Uint8Array.of(255, 0) } }), format),
  ).toMatch(/\nff00\n$/);
});

test('JSON is one line, with a binary payload in base64', () => {
  expect(JSON.parse(deadLetterJson(letter()))).toMatchObject({
    name: 'changes/3/7',
    key: 'uid/shop/web',
    payload: '{\u001b[31m',
  });
  const binary = letter({ record: { ...letter().record, payload: Uint8Array.of(255) } });
  expect(JSON.parse(deadLetterJson(binary))).toMatchObject({ payloadBase64: '/w==' });
  expect(deadLetterJson(letter()).match(/\n/g)).toHaveLength(1);
});

test('show names what is known of the record', () => {
  const shown = describeDeadLetter(letter({ record: { ...letter().record, headers: {} } }, '{}'), format);
  expect(shown).toBe(
    'Name:     changes/3/7\n' +
      'From:     offset 7 of changes, partition 3\n' +
      'Time:     2026-01-02 03:04:05.000\n' +
      'Reason:   not JSON: expected a name\n' +
      '              at line 1\n' +
      'Record:   r\n' +
      'Key:      west/shop/web\n' +
      'Payload:  6 bytes\n' +
      '\n{\\u001b[31m\n',
  );
  const headers = { ...letter().record, headers: { a: '1', b: '2' } };
  expect(describeDeadLetter(letter({ record: headers }), format)).toContain('Headers:  a=1, b=2\n');
});

test('JSON has the time in UTC and the position in the log', () => {
  expect(JSON.parse(deadLetterJson(letter()))).toEqual({
    ...{ name: 'changes/3/7', topic: 'changes', partition: 3, offset: 7, reason: letter().reason, id: 'r' },
    ...{ key: 'uid/shop/web', headers: { traceparent: '00-1' }, payload: '{\u001b[31m' },
    at: new Date(deadLetteredAt).toISOString(),
  });
});
