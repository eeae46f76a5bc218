import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createConsole } from '@sluice/console';
import { ConsoleClient } from '@sluice/console/client';
import { verifyService } from '@sluice/console/terminal';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { openRecording } from '@sluice/sluice/testing/recordings';
import { shop } from './record-shop.ts';

/** What a recording of the shop answers to the questions of the command line, by the name of the command. */
export async function answersOf(path: string): Promise<Readonly<Record<string, unknown>>> {
  const clock = new VirtualClock(Date.parse('2026-02-01T00:00:00Z'));
  const unreadable: string[] = [];
  const opened = await openRecording(path, {
    ...{ clock, onProgress: () => {} },
    onUnreadable: (reason) => void unreadable.push(reason),
  });
  const { history, recording, clusters } = opened;
  const sources = { clusters: () => clusters, recording };
  const ports = { clock, logger: silentLogger };
  const console = await createConsole({ ...ports, history, sources, access: { hosts: [] }, version: '0.1.0' });
  const server = createServer((request, response) => console.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const client = new ConsoleClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
    const nameOf = (service: string) => ({ cluster: shop.cluster, namespace: 'shop', service });
    const each = async (ask: (service: string) => Promise<unknown>) =>
      Object.fromEntries(
        await Promise.all(shop.services.map(async (service) => [service, await ask(service)] as const)),
      );
    return {
      coverage: { ...(await recording.coverage()), unreadable },
      history: await each((service) => client.history(nameOf(service), { limit: 12 })),
      problems: await client.problems({ all: 'true' }),
      'problems now': await client.problems({ open: 'true' }),
      outages: await client.outages({}),
      slow: await client.propagations({ limit: 12 }),
      flapping: await client.readinessChanges({ limit: 1_000 }),
      drain: await client.drains({}),
      rollout: await client.rollout(nameOf('cart'), {}),
      node: await client.nodeDisruptions({ node: shop.node, limit: 1_000 }),
      verify: await verifyService(client, nameOf('checkout')),
    };
  } finally {
    await console.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    opened.close();
  }
}
