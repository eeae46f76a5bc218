import { expect, test, vi } from 'vitest';

vi.mock('zod', () => {
  throw new Error('zod is loaded');
});

test('options load without the schemas of all settings, which would delay each start', async () => {
  await expect(import('./index.ts')).resolves.toBeDefined();
  await expect(import('./load/index.ts')).rejects.toThrow();
});
