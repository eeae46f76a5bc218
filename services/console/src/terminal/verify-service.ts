import type { ConsoleClient, ServiceName } from '../client/console-client.ts';
import type { Verification } from './print-verification.ts';

/** Whether slices and Endpoints show the Pods of a Service as they should, now or at a time in milliseconds since the Unix epoch. */
export async function verifyService(client: ConsoleClient, name: ServiceName, at?: number): Promise<Verification> {
  const scope = { ...name, limit: 1_000 };
  const wrong = await client.propagations(
    at === undefined ? { ...scope, open: 'true' } : { ...scope, since: at, until: at },
  );
  const ended = await client.propagations({ ...scope, until: at, sort: 'latest' });
  const until = at ?? Number.POSITIVE_INFINITY;
  return {
    wrong: wrong.filter(({ endedAt }) => endedAt === null || endedAt > until),
    latest: ended.filter(({ endedAt }) => endedAt !== null && endedAt <= until),
  };
}
