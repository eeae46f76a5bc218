import type { Bus } from '@sluice/bus';
import type { Clock } from '@sluice/platform';
import type { Store } from '@sluice/store';
import type { Violations } from '../violations.ts';

/** Failures in a row within this time, in milliseconds, that mean that nothing is waited for. Backoffs double. */
const [mostInRow, withinMs] = [6, 60];

/** What fails again and again is repeated with pauses. */
export class FailurePaces {
  readonly #clock: Clock;
  readonly #violations: Violations;
  /** When the last attempts failed, by what was attempted. */
  readonly #failures = new Map<string, readonly number[]>();

  constructor(clock: Clock, violations: Violations) {
    this.#clock = clock;
    this.#violations = violations;
  }

  bus(member: string, bus: Bus): Bus {
    return {
      partitions: bus.partitions,
      get limits() {
        return bus.limits;
      },
      get connected() {
        return bus.connected ?? true;
      },
      append: (topic, partition, records) => {
        // A repetition has the same ids.
        const what = `${member} appends ${records[0]?.id} to ${topic}/${partition}`;
        return this.#attempt(what, () => bus.append(topic, partition, records));
      },
      read: (...args) => bus.read(...args),
      beginning: (...args) =>
        this.#attempt(`${member} finds the beginning of ${args.join('/')}`, () => bus.beginning(...args)),
      end: (...args) => this.#attempt(`${member} finds the end of ${args.join('/')}`, () => bus.end(...args)),
      close: () => bus.close(),
    };
  }

  store(member: string, store: Store): Store {
    return {
      claim: (scope, token) => this.#attempt(`${member} claims ${scope}`, () => store.claim(scope, token)),
      commit: (commit) => this.#attempt(`${member} commits ${commit.scope}`, () => store.commit(commit)),
      find: (...args) => this.#attempt(`${member} finds ${args.join()}`, () => store.find(...args)),
      setIfAbsent: (name, value) => this.#attempt(`${member} sets ${name}`, () => store.setIfAbsent(name, value)),
      checkpoint: (scope) => this.#attempt(`${member} reads the checkpoint of ${scope}`, () => store.checkpoint(scope)),
    };
  }

  async #attempt<T>(what: string, send: () => Promise<T>): Promise<T> {
    try {
      const answer = await send();
      this.#failures.delete(what);
      return answer;
    } catch (error) {
      const now = this.#clock.monotonic();
      const last = [...(this.#failures.get(what) ?? []), now].slice(-mostInRow);
      this.#failures.set(what, last);
      if (last.length === mostInRow && now - (last[0] ?? now) < withinMs)
        this.#violations.report(
          'failures are repeated with pauses',
          `${what} ${mostInRow} times within ${withinMs} ms`,
        );
      throw error;
    }
  }
}
