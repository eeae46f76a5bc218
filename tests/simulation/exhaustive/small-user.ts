import type { FakeApiServer } from '@sluice/fake-apiserver';
import { asRecord } from '@sluice/platform';
import { namespace, nodeObject, podObject } from '../../harness/objects.ts';
import { putNode } from '../../harness/put-node.ts';

interface PodOptions {
  readonly app: string;
  readonly ready?: boolean;
  readonly address: number;
}

/** Two Services, three Pods and one Node, and a short list of changes that covers what users do to them. */
export class SmallUser {
  readonly #server: FakeApiServer;
  readonly #now: () => number;
  readonly #actions: readonly (() => void)[];
  #done = 0;

  constructor(server: FakeApiServer, now: () => number) {
    this.#server = server;
    this.#now = now;
    this.#actions = [
      () => this.#pod('b', { app: 'web', address: 2 }),
      () => this.#service('db', 'db'),
      () => this.#pod('c', { app: 'db', address: 3 }),
      () => this.#pod('a', { app: 'web', address: 1, ready: false }),
      // From one Service to the other.
      () => this.#pod('b', { app: 'db', address: 2 }),
      () => this.#server.delete('pods', namespace, 'c', { gracePeriodSeconds: 0 }),
      // Recreated before the garbage collector is done.
      () => this.#server.delete('services', namespace, 'web'),
      () => this.#service('web', 'web'),
      // Replaced under the same name, as in a StatefulSet.
      () => {
        this.#server.delete('pods', namespace, 'a', { gracePeriodSeconds: 0 });
        this.#pod('a', { app: 'web', address: 4 });
      },
      () => this.#server.delete('nodes', '', 'n'),
      () => this.#node('b'),
      () => this.#service('db', 'web'),
    ];
  }

  createInitialObjects(): void {
    this.#node('a');
    this.#service('web', 'web');
    this.#pod('a', { app: 'web', address: 1 });
  }

  step(): void {
    this.#actions[this.#done++]?.();
  }

  #node(zone: string): void {
    putNode(this.#server, nodeObject('n', zone), this.#now());
  }

  #service(name: string, app: string): void {
    const ports = [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }];
    const old = this.#server.list('services').items.find(({ metadata }) => metadata.name === name);
    const spec = { ...asRecord(old?.spec), selector: { app }, ports };
    if (old === undefined) this.#server.create('services', { metadata: { name, namespace }, spec });
    else this.#server.update('services', { metadata: { name, namespace }, spec });
  }

  #pod(name: string, { app, ready = true, address }: PodOptions): void {
    const since = `${new Date(this.#now()).toISOString().slice(0, 19)}Z`;
    const ips = [`10.0.0.${address}`];
    this.#server.put('pods', podObject({ name, labels: { app }, ips, ready, node: 'n', since }));
  }
}

/** Number of actions. */
export const smallActions = 12;
