/**
 * Makes weak collections that modules create while they load forget, before each run of a test, what earlier runs put into them.
 * Otherwise a decision that a module remembers for a fixture would keep the code of the decision from running again.
 */

const native = { WeakMap, WeakSet };

/** 0 while modules load; what they put in then stays. */
let run = 0;

class ForgetfulWeakMap<K extends WeakKey, V> extends WeakMap<K, V> {
  readonly #runs = new native.WeakMap<K, number>();

  constructor(entries?: Iterable<readonly [K, V]> | null) {
    // The native constructor would add them before there are any private fields.
    super();
    for (const [key, value] of entries ?? []) this.set(key, value);
  }

  override get(key: K): V | undefined {
    return this.has(key) ? super.get(key) : undefined;
  }

  override has(key: K): boolean {
    const addedIn = this.#runs.get(key);
    return addedIn === 0 || addedIn === run;
  }

  override set(key: K, value: V): this {
    this.#runs.set(key, run);
    return super.set(key, value);
  }

  override delete(key: K): boolean {
    return this.#runs.delete(key) && super.delete(key);
  }
}

class ForgetfulWeakSet<T extends WeakKey> extends WeakSet<T> {
  readonly #runs = new native.WeakMap<T, number>();

  constructor(values?: Iterable<T> | null) {
    super();
    for (const value of values ?? []) this.add(value);
  }

  override has(value: T): boolean {
    const addedIn = this.#runs.get(value);
    return addedIn === 0 || addedIn === run;
  }

  override add(value: T): this {
    this.#runs.set(value, run);
    return super.add(value);
  }

  override delete(value: T): boolean {
    return this.#runs.delete(value) && super.delete(value);
  }
}

/** Calls are balanced by `afterLoading`. */
export function beforeLoading(): void {
  Object.assign(globalThis, { WeakMap: ForgetfulWeakMap, WeakSet: ForgetfulWeakSet });
}

export function afterLoading(): void {
  Object.assign(globalThis, native);
}

export function forget(): void {
  run += 1;
}
