import type { RawObject } from '@sluice/kubernetes';
import type { SimulationContext } from './simulation-context.ts';

const namespace = 'payments';
const name = 'card-gateway';

/** User-managed Endpoints of a Service without a selector: machines outside the cluster. Sluice mirrors them. */
export class CustomEndpoints {
  readonly #context: SimulationContext;
  readonly #addresses = new Map<string, boolean>();

  constructor(context: SimulationContext) {
    this.#context = context;
  }

  populate(): void {
    for (const host of [21, 22, 37]) this.#addresses.set(`203.0.113.${host}`, true);
    const metadata = { namespace, name, labels: { app: name, team: 'payments' } };
    this.#context.attempt((api) => api.create('endpoints', { metadata, subsets: this.#subsets() }));
  }

  /** Adds or removes an address, or changes the readiness of one. */
  change(): void {
    const known = this.#context.pick([...this.#addresses.keys()]);
    const chance = this.#context.random.next();
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
    const ip = `203.0.113.${this.#context.between(20, 90)}`;
    if (this.#addresses.has(ip)) return;
    this.#addresses.set(ip, true);
    this.#write(`list ${ip} as well`);
  }

  #write(description: string): void {
    const subsets = this.#subsets();
    if (this.#context.attempt((api) => api.patch('endpoints', namespace, name, { subsets })))
      this.#context.report({ kind: 'Endpoints', namespace, name, description, service: name });
  }

  #subsets(): readonly RawObject[] {
    const of = (ready: boolean) => [...this.#addresses].filter(([, is]) => is === ready).map(([ip]) => ({ ip }));
    return [{ addresses: of(true), notReadyAddresses: of(false), ports: [{ name: 'https', port: 8443 }] }];
  }
}
