import { isIP, isIPv4, isIPv6 } from 'node:net';
import { type FieldError, invalid } from './field-error.ts';

/** Validates the family and range of an endpoint address. */
export function validateAddress(field: string, value: unknown, family?: 'IPv4' | 'IPv6'): readonly FieldError[] {
  if (typeof value !== 'string' || isIP(value) === 0)
    return [invalid(field, value, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
  if (family === 'IPv4' && !isIPv4(value)) return [invalid(field, value, 'must be an IPv4 address')];
  if (family === 'IPv6' && !isIPv6(value)) return [invalid(field, value, 'must be an IPv6 address')];
  const why = specialUse(value.toLowerCase());
  return why === undefined ? [] : [invalid(field, value, why)];
}

function specialUse(ip: string): string | undefined {
  if (ip === '0.0.0.0' || ip === '::') return 'may not be unspecified (0.0.0.0)';
  if (ip.startsWith('127.') || ip === '::1') return 'may not be in the loopback range (127.0.0.0/8, ::1/128)';
  if (ip.startsWith('169.254.') || /^fe[89ab]/.test(ip))
    return 'may not be in the link-local range (169.254.0.0/16, fe80::/10)';
  if (ip.startsWith('224.0.0.') || /^ff[0-9a-f]2:/.test(ip))
    return 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)';
  return undefined;
}
