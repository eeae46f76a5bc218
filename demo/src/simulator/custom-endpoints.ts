import type { RawObject } from '@sluice/kubernetes';
import type { SimulationContext } from './simulation-context.ts';

const namespace = 'payments';
const name = 'card-gateway';

/** The Endpoints of a Service without selector: machines outside the cluster, kept by people, to be mirrored. */
export class CustomEndpoints {
  readonly #stage: SimulationContext;
  readonly #addresses = new Map<string, boolean>();

  constructor(stage: SimulationContext) {
    this.#stage = stage;
  }

  populate(): void {
    for (const host of [21, 22, 37]) this.#addresses.set(`203.0.113.${host}`, true);
    const metadata = { namespace, name, labels: { app: name, team: 'payments' } };
    this.#stage.attempt((api) => api.create('endpoints', { metadata, subsets: this.#subsets() }));
  }

  /** Adds an address, removes one, or changes whether one is ready. */
  change(): void {
    const known = this.#stage.pick([...this.#addresses.keys()]);
    const chance = this.#stage.random.next();
    if (known === undefined || (chance < 0.35 && this.#addresses.size < 6)) this.#add();
    else if (chance < 0.6 && this.#addresses.size > 2) {
      this.#addresses.delete(known);
      this.#write(`no longer list ${known}`);
    } else {
      const ready = !this.#addresses.get(known);
      this.#addresses.set(known, ready);
      this.#write(`list ${known} as ${ready ? 'ready' : 'not ready'}`);
    }
  }

  #add(): void {
    const ip = `203.0.113.${this.#stage.between(20, 90)}`;
    if (this.#addresses.has(ip)) return;
    this.#addresses.set(ip, true);
    this.#write(`list ${ip} as well`);
  }

  #write(what: string): void {
    const subsets = this.#subsets();
    if (this.#stage.attempt((api) => api.patch('endpoints', namespace, name, { subsets })))
      this.#stage.tell({ kind: 'Endpoints', namespace, name, what, service: name });
  }

  #subsets(): readonly RawObject[] {
    const of = (ready: boolean) => [...this.#addresses].filter(([, is]) => is === ready).map(([ip]) => ({ ip }));
    return [{ addresses: of(true), notReadyAddresses: of(false), ports: [{ name: 'https', port: 8443 }] }];
  }
}
