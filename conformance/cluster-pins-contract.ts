import type { ClusterPins } from '@sluice/store';
import { describe, expect, test } from 'vitest';

/** The contract of the port for pinned cluster identities. Each call of `create` gives an empty one. */
export function clusterPinsContract(name: string, create: () => Promise<ClusterPins>): void {
  describe(`cluster pins contract: ${name}`, () => {
    test('has no document at first', async () => {
      expect(await (await create()).read()).toBeNull();
    });

    test('replaces the document only if nobody else did', async () => {
      const pins = await create();
      expect(await pins.replace(null, 'one')).toBe(true);
      expect(await pins.replace(null, 'two')).toBe(false);
      expect(await pins.replace('zero', 'two')).toBe(false);
      expect(await pins.read()).toBe('one');
      expect(await pins.replace('one', 'two')).toBe(true);
      expect(await pins.read()).toBe('two');
    });
  });
}
