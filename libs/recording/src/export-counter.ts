import { isServiceKey } from '@sluice/messages';

export interface Exported {
  readonly services: number;
  readonly records: number;
}

/** Counts the records of an export, and the Services that they are about. */
export class ExportCounter {
  readonly #services = new Set<string>();
  #records = 0;

  /** `key`: formatted key of the Service, or the identity of a cluster that was removed. */
  add(key: string): void {
    if (isServiceKey(key)) this.#services.add(key);
    this.#records++;
  }

  get exported(): Exported {
    return { services: this.#services.size, records: this.#records };
  }
}
