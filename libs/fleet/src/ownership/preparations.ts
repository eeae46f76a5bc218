import type { Lease } from '@sluice/store';

/** A scope that this member will acquire soon. */
interface Preparation {
  /** Of the lease that its holder is to release. */
  readonly fencingToken: number;
  /** Whether work could start at once, and whether the last heartbeat has reported it. */
  state: 'preparing' | 'prepared' | 'reported';
}

/** Prepares the scopes that other members hand over to this one, and keeps what the next heartbeat reports to them. */
export class Preparations {
  readonly #prepare: (scope: string) => Promise<void>;
  readonly #onPrepared: () => void;
  readonly #scopes = new Map<string, Preparation>();

  /** `prepare` is called again and again as long as a scope is handed over. `onPrepared`: there is something to report. */
  constructor(prepare: (scope: string) => Promise<void>, onPrepared: () => void) {
    this.#prepare = prepare;
    this.#onPrepared = onPrepared;
  }

  /** Scopes whose holders wait until they learn that this member is prepared. */
  get pending(): readonly string[] {
    return [...this.#scopes].flatMap(([scope, { state }]) => (state === 'prepared' ? [scope] : []));
  }

  reported(scopes: readonly string[]): void {
    for (const scope of scopes) {
      const preparation = this.#scopes.get(scope);
      if (preparation?.state === 'prepared') preparation.state = 'reported';
    }
  }

  /** Prepares the scopes of these leases and no others. */
  update(leases: readonly Lease[]): void {
    const tokens = new Map(leases.map(({ scope, fencingToken }) => [scope, fencingToken]));
    for (const [scope, { fencingToken }] of this.#scopes) {
      if (tokens.get(scope) !== fencingToken) this.#scopes.delete(scope);
    }
    for (const [scope, fencingToken] of tokens) {
      const prepared = this.#prepare(scope);
      if (this.#scopes.has(scope)) continue;
      const preparation: Preparation = { fencingToken, state: 'preparing' };
      this.#scopes.set(scope, preparation);
      const done = () => {
        if (this.#scopes.get(scope) !== preparation) return;
        preparation.state = 'prepared';
        this.#onPrepared();
      };
      // A preparation that fails is over as well: its holder would wait in vain.
      void prepared.then(done, done);
    }
  }
}
