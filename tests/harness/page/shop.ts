import type { FakeApiServer } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import { namespace, nodeObject, podObject } from '../objects.ts';

/** A small cluster that tests change. */
export class Shop {
  readonly #server: FakeApiServer;

  constructor(server: FakeApiServer) {
    this.#server = server;
    server.create('namespaces', { metadata: { name: namespace } });
    server.put('nodes', nodeObject('n1', 'zone-a'));
    server.put('nodes', nodeObject('n2', 'zone-b'));
  }

  /** Adds a Service with ready Pods `NAME-1` and so on. */
  addService(name: string, pods: number, spec: RawObject = {}): void {
    this.#server.create('services', {
      metadata: { name, namespace },
      spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080 }], ...spec },
    });
    for (let i = 1; i <= pods; i++) this.setPod(name, `${name}-${i}`, true);
  }

  /** Creates or updates a Pod of a Service. */
  setPod(service: string, name: string, ready: boolean): void {
    const known = this.#addresses.get(name) ?? this.#addresses.size + 1;
    this.#addresses.set(name, known);
    this.#server.put(
      'pods',
      podObject({
        name,
        labels: { app: service },
        ips: [`10.1.${known >> 8}.${known & 255}`],
        ready,
        node: known % 2 === 0 ? 'n2' : 'n1',
        since: '2026-01-01T00:00:00Z',
      }),
    );
  }

  /** Adds a Service without a selector, and custom Endpoints. */
  addCustom(name: string, ...ips: string[]): void {
    const ports = [{ name: 'http', port: 80 }];
    this.#server.create('services', { metadata: { name, namespace }, spec: { ports } });
    const subsets = [{ addresses: ips.map((ip) => ({ ip })), ports: [{ name: 'http', port: 8080 }] }];
    this.#server.create('endpoints', { metadata: { name, namespace }, subsets });
  }

  readonly #addresses = new Map<string, number>();
}
