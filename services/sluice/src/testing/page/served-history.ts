import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createConsole, History } from '@sluice/console';
import { encodeMessage, formatServiceKey } from '@sluice/messages';
import { silentLogger } from '@sluice/runtime';
import { systemClock } from '../../system/clock.ts';

export interface ServedHistory {
  readonly url: string;
  stop(): Promise<void>;
}

/** The page on a history of so many Services without a Pod, named `svc-00000` and so on, as a watcher tells of them. */
export async function serveHistory(services: number): Promise<ServedHistory> {
  const ports = { clock: systemClock, logger: silentLogger };
  const history = new History(ports);
  for (let i = 0; i < services; i++) {
    const record = snapshotOf(`svc-${String(i).padStart(5, '0')}`);
    history.add('changes', { id: String(i), headers: {}, ...record });
  }
  const console = await createConsole({
    ...ports,
    history,
    sources: { clusters: () => [] },
    access: { hosts: [] },
    version: '0.0.0',
  });
  const server = createServer((request, response) => console.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      await console.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function snapshotOf(name: string) {
  const key = { cluster: 'cluster-uid', namespace: 'shop', service: name };
  const payload = encodeMessage({
    kind: 'change',
    key,
    stamp: { epoch: 1, n: 1 },
    facts: [
      {
        of: 'service',
        service: {
          ...{ namespace: 'shop', name, uid: `${name}-uid`, creationTimestamp: '2026-01-01T00:00:00Z' },
          ...{ deleting: false, labels: {}, annotations: {}, type: 'ClusterIP', selector: { app: name } },
          ...{ clusterIP: '10.96.0.1', ipFamilies: ['IPv4'], ports: [] },
          ...{ publishNotReadyAddresses: false, trafficDistribution: null },
        },
      },
    ],
    causes: { first: [], more: 0 },
    snapshot: { first: true, last: true, start: true, versions: { endpoints: '1', endpointslices: '1' } },
  });
  return { key: formatServiceKey(key), payload };
}
