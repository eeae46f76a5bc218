import { getOrCreate } from '@sluice/platform';

export interface Base {
  /** Id of the record. */
  readonly id: number;
  readonly payload: Uint8Array;
}

interface CountedBase extends Base {
  uses: number;
}

/** Beyond it, all are forgotten. */
const maxBytes = 64 * 1024 ** 2;

/** The last payload of each object since the last snapshot of its Service. The next one differs little. */
export class DeltaBases {
  readonly #services = new Map<number, Map<string, CountedBase>>();
  #bytes = 0;

  /** The last payload of the first of these objects that has one. */
  get(service: number, objects: readonly string[]): Base | undefined {
    const known = this.#services.get(service);
    for (const object of objects) {
      const base = known?.get(object);
      if (base !== undefined) return base;
    }
    return undefined;
  }

  set(service: number, objects: readonly string[], { id, payload }: Base): void {
    if (this.#bytes + payload.length > maxBytes) this.clear();
    const known = getOrCreate(this.#services, service, () => new Map<string, CountedBase>());
    const base = { id, payload, uses: objects.length };
    if (objects.length > 0) this.#bytes += payload.length;
    for (const object of objects) {
      this.#release(known.get(object));
      known.set(object, base);
    }
  }

  delete(service: number): void {
    for (const base of this.#services.get(service)?.values() ?? []) this.#release(base);
    this.#services.delete(service);
  }

  clear(): void {
    this.#services.clear();
    this.#bytes = 0;
  }

  #release(base: CountedBase | undefined): void {
    if (base === undefined) return;
    base.uses--;
    if (base.uses === 0) this.#bytes -= base.payload.length;
  }
}
