import { afterEach, expect, test, vi } from 'vitest';
import { api } from './api.ts';

afterEach(() => vi.unstubAllGlobals());

function answering(body: string, status: number): void {
  vi.stubGlobal('location', { origin: 'http://127.0.0.1' });
  vi.stubGlobal('fetch', async () => new Response(body, { status }));
}

test('an answer that is cut off is a failure, not an empty answer', async () => {
  answering('{"items":[', 200);
  await expect(api.changes(1)).rejects.toMatchObject({ message: 'Sluice does not answer', status: 0 });
});

test('an error that is not JSON keeps its status', async () => {
  answering('<html>', 502);
  await expect(api.changes(1)).rejects.toMatchObject({ message: 'HTTP status 502', status: 502 });
});
