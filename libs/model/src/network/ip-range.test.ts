import { expect, test } from 'vitest';
import { type IpRange, joinRanges, overlaps, parseCidr, printRange } from './ip-range.ts';

const parsed = (text: string): IpRange => {
  const range = parseCidr(text);
  if (range === null) throw new Error(`${text} is no CIDR`);
  return range;
};

test.each([
  ['10.244.0.0/16', '10.244.0.0/16'],
  ['10.244.3.7/24', '10.244.3.0/24'],
  ['0.0.0.0/0', '0.0.0.0/0'],
  ['255.255.255.255/32', '255.255.255.255/32'],
  ['fd00:10:244::/48', 'fd00:10:244::/48'],
  ['FD00::1/128', 'fd00::1/128'],
  ['::/0', '::/0'],
])('%s is the range %s', (text, printed) => {
  expect(printRange(parsed(text))).toBe(printed);
});

test.each([
  ...['', '/', '10.0.0.0', '10.0.0.0/', '10.0.0.0/33', '10.0.0.0/-1', '10.0.0.0/08', '10.0.0.0/1e1'],
  ...['10.0.0/8', 'fd00::/129', 'fd00:/64', '10.0.0.0/8/8', 'a/8'],
])('%j is no CIDR', (text) => {
  expect(parseCidr(text)).toBeNull();
});

test('ranges that touch or overlap are joined, in each family', () => {
  const cidrs = [
    '10.0.3.0/24',
    'fd00::/64',
    '10.0.0.0/24',
    '10.0.1.0/24',
    '10.0.0.0/25',
    '10.0.5.0/24',
    'fd00:0:0:1::/64',
  ];
  const joined = joinRanges([...cidrs, '10.0.4.0/24'].map(parsed));
  expect(joined.map((range) => [printRange(range), range.members])).toEqual([
    ['10.0.0.0/23', 3],
    ['10.0.3.0-10.0.5.255', 3],
    ['fd00::/63', 2],
  ]);
});

test('IPv4 and IPv6 never overlap, nor do ranges that only touch', () => {
  expect(overlaps(parsed('0.0.0.0/0'), parsed('::/0'))).toBe(false);
  expect(overlaps(parsed('10.0.0.0/24'), parsed('10.0.1.0/24'))).toBe(false);
  expect(overlaps(parsed('10.0.0.0/16'), parsed('10.0.255.255/32'))).toBe(true);
});
