import { describe, expect, it } from 'vitest';
import { isIpv6, normaliseIp, parseIp } from './ip-address.ts';

describe('parseIp (C6)', () => {
  it.each([
    ['10.0.0.1', 'IPv4', '10.0.0.1'],
    ['0.0.0.0', 'IPv4', '0.0.0.0'],
    ['255.255.255.255', 'IPv4', '255.255.255.255'],
    ['010.001.0.1', 'IPv4', '10.1.0.1'],
    ['10.0.0.00', 'IPv4', '10.0.0.0'],
    ['::ffff:10.1.0.9', 'IPv4', '10.1.0.9'],
    ['::FFFF:a01:9', 'IPv4', '10.1.0.9'],
    ['::', 'IPv6', '::'],
    ['::1', 'IPv6', '::1'],
    ['fd00::', 'IPv6', 'fd00::'],
    ['FD00:10:244:0:0:0:0:22', 'IPv6', 'fd00:10:244::22'],
    ['1:0:0:2:0:0:0:3', 'IPv6', '1:0:0:2::3'],
    ['1:0:0:2:3:0:0:4', 'IPv6', '1::2:3:0:0:4'],
    ['1:0:2:3:4:5:6:7', 'IPv6', '1:0:2:3:4:5:6:7'],
    ['::10.0.0.1', 'IPv6', '::a00:1'],
    ['1:2:3:4:5:6:10.0.0.1', 'IPv6', '1:2:3:4:5:6:a00:1'],
  ])('%s', (text, family, printed) => {
    expect(parseIp(text)).toEqual({ family, text: printed });
  });

  it.each([
    '',
    'host',
    '1',
    '10.0.0',
    '10.0.0.0.0',
    '10.0.0.256',
    '10..0.1',
    ' 10.0.0.1',
    '10.0.0.1 ',
    ':',
    ':1',
    '1:',
    '1:2',
    '1::2::3',
    '1:2:3:4:5:6:7:8:9',
    '::1:2:3:4:5:6:7:8',
    'fe80::1%eth0',
    '12345::',
    'g::',
    '1:10.0.0.1',
    '1:2:3:4:5:6:7:10.0.0.1',
  ])('rejects %j', (text) => {
    expect(parseIp(text)).toBeNull();
  });
});

describe('an invalid address', () => {
  it('counts as IPv4 and prints as <nil> (C7)', () => {
    expect(normaliseIp('nonsense')).toEqual({ family: 'IPv4', text: '<nil>' });
    expect(isIpv6('nonsense')).toBe(false);
    expect(isIpv6('fd00::1')).toBe(true);
  });
});
