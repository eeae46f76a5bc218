import type { FakeApiServer } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import { namespace, nodeObject, podObject } from '../objects.ts';

/** A small cluster to look at, and what happens in it when a test wants it to. */
export class Shop {
  readonly #server: FakeApiServer;

  constructor(server: FakeApiServer) {
    this.#server = server;
    server.create('namespaces', { metadata: { name: namespace } });
    server.put('nodes', nodeObject('n1', 'zone-a'));
    server.put('nodes', nodeObject('n2', 'zone-b'));
  }

  /** A Service with so many ready Pods, named after it. */
  addService(name: string, pods: number, spec: RawObject = {}): void {
    this.#server.create('services', {
      metadata: { name, namespace },
      spec: { selector: { app: name }, ports: [{ name: 'http', port: 80, targetPort: 8080 }], ...spec },
    });
    for (let i = 1; i <= pods; i++) this.setPod(name, `${name}-${i}`, true);
  }

  /** A Pod of a Service, ready or not; a new one if there is none of its name. */
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

  /** Endpoints that somebody else keeps, of a Service without a selector. */
  addCustom(name: string, ...ips: string[]): void {
    const ports = [{ name: 'http', port: 80 }];
    this.#server.create('services', { metadata: { name, namespace }, spec: { ports } });
    const subsets = [{ addresses: ips.map((ip) => ({ ip })), ports: [{ name: 'http', port: 8080 }] }];
    this.#server.create('endpoints', { metadata: { name, namespace }, subsets });
  }

  readonly #addresses = new Map<string, number>();
}
