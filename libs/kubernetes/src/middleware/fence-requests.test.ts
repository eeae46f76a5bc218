import { expect, test } from 'vitest';
import { fenceRequests } from './fence-requests.ts';

const request = { verb: 'identity', signal: new AbortController().signal } as const;

test('a request is sent only while the lease is current', async () => {
  let sent = 0;
  let current = true;
  const fence = fenceRequests(() => {
    if (!current) throw new Error('the lease has expired');
  });
  const send = () =>
    fence(request, async () => {
      sent += 1;
      return 'one' as never;
    });
  expect(await send()).toBe('one');
  current = false;
  await expect(send()).rejects.toThrow('expired');
  expect(sent).toBe(1);
});
