import type { Bus } from '@sluice/bus';
import { tapBus } from '@sluice/console';
import { FakeApiServer, FakeClient } from '@sluice/fake-apiserver';
import { parseEndpoint } from '@sluice/fleet/configuration';
import { ApiError, chainWriter, type Middleware } from '@sluice/kubernetes';
import type { Jaeger } from '@sluice/local';
import { seededRandom, silentLogger } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import { defaultSettings } from '@sluice/service-state';
import { clusterView, startAllInOne, startConsole, startTracing } from '@sluice/sluice';
import type { Outage } from '@sluice/store';
import { Metrics, serveTelemetry } from '@sluice/telemetry';

/** A console on loopback with all services in this process, on a fake API server. */
export interface ServedConsole {
  readonly server: FakeApiServer;
  readonly url: string;
  /** Makes the API server reject creates and updates for this Service with this message. */
  refuse(service: string, message: string): void;
  /** Reports that the cluster does not answer; null: it answers. */
  setOutage(outage: Outage | null): void;
  /** Closes the listener and all connections of the page. */
  stopListening(): Promise<void>;
  /** Listens on the same port again. */
  listenAgain(): Promise<void>;
  stop(): Promise<void>;
}

/** `jaeger`: receives all traces, and serves them to the page. */
export async function serveConsole(jaeger?: Pick<Jaeger, 'otlpUrl' | 'queryUrl'>): Promise<ServedConsole> {
  const ports = { clock: systemClock, random: seededRandom(1), logger: silentLogger };
  const server = new FakeApiServer(ports);
  const client = new FakeClient(server, ports);
  const refusals = new Map<string, string>();
  let outage: Outage | null = null;
  const cluster = {
    identity: server.identity,
    name: 'prod',
    server: 'https://prod.example',
    version: 'v1.36.3',
    reader: client,
    writer: chainWriter(client, rejecting(refusals)),
    record: () => {},
  };
  const { console, history } = startConsole(
    () => [clusterView(cluster, 'watched', { outage })],
    { jaegerQueryUrl: jaeger?.queryUrl },
    ports,
  );
  const tracing = await tracingTo(jaeger?.otlpUrl);
  const fleet = startAllInOne({
    ...{ ...ports, clusters: [cluster], settings: defaultSettings, tap: (bus: Bus) => tapBus(bus, history) },
    tracers: tracing?.tracers,
  });
  const metrics = new Metrics({ clusters: new Map(), process: false });
  const health = { livez: () => [], readyz: () => [] };
  const listen = (port: number) =>
    serveTelemetry({ host: '127.0.0.1', port }, { metrics, health, clock: systemClock, otherwise: console.handle });
  let telemetry = await listen(0);
  const { url } = telemetry;
  return {
    server,
    url,
    refuse: (service, message) => refusals.set(service, message),
    setOutage: (current) => {
      outage = current;
    },
    stopListening: () => telemetry.close(),
    async listenAgain() {
      telemetry = await listen(Number(new URL(url).port));
    },
    async stop() {
      await fleet.stop(0);
      await tracing?.exporter.close(1_000);
      await console.close();
      await telemetry.close();
    },
  };
}

const tracingTo = (otlpUrl: string | undefined) =>
  startTracing(
    { endpoint: otlpUrl && parseEndpoint(otlpUrl), ratio: 1, slowMs: 60_000 },
    {
      ...{ systems: { messaging: 'memory', store: 'memory' }, fleet: 'test', member: 'test' },
      ...{ clock: systemClock, random: systemRandom, logger: silentLogger },
    },
  );

/** Rejects creates and updates of the objects of these Services, with the given messages. */
const rejecting =
  (messages: ReadonlyMap<string, string>): Middleware =>
  async (request, next) => {
    if (request.verb === 'create' || request.verb === 'update') {
      const { name } = request.object.metadata;
      for (const [service, message] of messages) {
        if (name !== service && !name.startsWith(`${service}-`)) continue;
        throw new ApiError(message, { kind: 'terminal', status: 422, reason: 'Invalid' });
      }
    }
    return next(request);
  };
