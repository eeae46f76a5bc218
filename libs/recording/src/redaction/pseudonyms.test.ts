import { parseIp } from '@sluice/model';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Pseudonyms } from './pseudonyms.ts';

test('different texts have different pseudonyms, which are valid names of ports too', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 1 }), { maxLength: 200 }), (texts) => {
      const to = new Pseudonyms();
      const pseudonyms = texts.map((text, i) => to.text(text, i % 2 === 0 ? 'port' : 'pod'));
      expect(new Set(pseudonyms).size).toBe(texts.length);
      expect(texts.map((text) => to.text(text, 'other'))).toEqual(pseudonyms);
      for (const one of pseudonyms) expect(one).toMatch(/^[a-z0-9-]{1,15}$/);
    }),
  );
});

test('addresses stay valid, different and of their family', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.oneof(fc.ipV4(), fc.ipV6()), { selector: (text) => parseIp(text)?.text }),
      (texts) => {
        const to = new Pseudonyms();
        const addresses = texts.map((text) => to.address(text));
        expect(new Set(addresses).size).toBe(texts.length);
        for (const [i, one] of addresses.entries()) {
          expect(parseIp(one)).toEqual({ family: parseIp(texts[i] ?? '')?.family, text: one });
        }
      },
    ),
  );
});

test('an address that is written in two ways is one address, and a name of DNS is none', () => {
  const to = new Pseudonyms();
  expect(['10.9.0.1', '010.009.0.1', '::ffff:10.9.0.1'].map((text) => to.address(text))).toEqual(
    Array(3).fill('10.0.0.1'),
  );
  expect(to.address('db.example.com')).toBe('address-1');
  expect([to.address(''), to.text('', 'pod'), to.uid('')]).toEqual(['', '', '']);
});
