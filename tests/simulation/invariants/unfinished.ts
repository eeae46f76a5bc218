import type { Topic } from '@sluice/bus';
import { isServiceKey } from '@sluice/messages';
import type { SimulatedBus } from '../doubles/simulated-bus.ts';
import type { SimulatedStore } from '../doubles/simulated-store.ts';
import type { ReplacedValues } from './replaced-values.ts';

/** Longer than a commit is delayed, in milliseconds. */
const commitWithinMs = 1_000;

export interface UnfinishedOptions {
  readonly log: SimulatedBus;
  readonly store: SimulatedStore;
  /** Whether checkpoints are as the processes have left them. */
  readonly isIntact: () => boolean;
  /** Whether large messages are sent in chunks. */
  readonly isChunked: boolean;
  /** Whether workers that deliver their plans themselves may leave repeated or foreign ones unread until the next plan. */
  readonly mayLeaveRepeatedPlans: boolean;
  /** Whether the store has what the owners of its scopes last committed. */
  readonly isKept: () => boolean;
  readonly replaced: ReplacedValues;
  /** Whether only the liveness probe tells that the Service with this state of its snapshot is gone. */
  readonly mayAwaitProbe: (key: string, snapshot: string) => boolean;
}

interface Ends {
  readonly at: number;
  /** Last offset by scope. */
  readonly offsets: ReadonlyMap<string, number>;
}

/** When nothing happens any more, every record is committed and nothing waits for an answer. */
export class Unfinished {
  readonly #log: SimulatedBus;
  readonly #store: SimulatedStore;
  readonly #options: UnfinishedOptions;
  /** Ends of the logs in the last second, the oldest first. */
  #ends: readonly Ends[] = [];

  constructor(options: UnfinishedOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#store = options.store;
  }

  /** What is unfinished; undefined if there is nothing. Call it repeatedly. */
  find(now: number): string | undefined {
    const then = this.#remember(now);
    if (then === undefined) return 'the run has just ended';
    const { isIntact, isKept } = this.#options;
    return (isIntact() ? this.#uncommitted(then) : undefined) ?? (isKept() ? this.#awaited() : undefined);
  }

  #remember(now: number): Ends | undefined {
    const { partitions } = this.#log;
    const offsets = new Map<string, number>();
    for (let partition = 0; partition < partitions; partition++)
      for (const [topic, role] of readers)
        offsets.set(`${role}/${partition}`, this.#log.log(topic, partition).end().offset);
    this.#ends = [...this.#ends, { at: now, offsets }];
    const then = this.#ends.findLast(({ at }) => now - at >= commitWithinMs);
    if (then !== undefined) this.#ends = this.#ends.filter(({ at }) => at >= then.at);
    return then;
  }

  #uncommitted({ offsets }: Ends): string | undefined {
    for (const [scope, offset] of offsets) {
      const committed = this.#store.checkpoint(scope)?.offset ?? 0;
      if (committed < offset && !this.#mayStayUnread(scope, committed))
        return `${scope} is committed up to ${committed}, and its log ends at ${offset}`;
    }
    return undefined;
  }

  /**
   * Whether nothing follows that lets the owner commit: the records after its checkpoint are chunks of a message that is never
   * completed, second copies of plans, or foreign ones.
   */
  #mayStayUnread(scope: string, committed: number): boolean {
    const [role, partition] = scope.split('/');
    const topic = role === 'writer' ? 'mutations' : 'changes';
    const { appended } = this.#log.log(topic, Number(partition));
    const { mayLeaveRepeatedPlans, isChunked } = this.#options;
    const mayRepeat = mayLeaveRepeatedPlans && topic === 'mutations';
    if (appended === undefined) return isChunked || mayRepeat;
    const known = new Set<string>();
    for (const { id, offset } of appended) {
      const [plan = ''] = id.split(/\/(?:again|of-version-2)\//);
      const isRepeated = mayRepeat && known.has(plan);
      if (offset > committed && !isRepeated && !id.includes('/chunk/')) return false;
      known.add(plan);
    }
    return true;
  }

  #awaited(): string | undefined {
    for (const scope of this.#store.scopes) {
      if (!scope.startsWith('reconciler/')) continue;
      for (const [name, json] of this.#store.entries(scope)) {
        const [key = '', field = ''] = name.split('\n');
        if (!isServiceKey(key)) continue;
        if (field === 'snapshot' && this.#options.mayAwaitProbe(key, json)) continue;
        if (this.#options.replaced.isUnread(scope, name, json)) continue;
        if (field === 'resync') return `${scope} awaits a snapshot of ${key}: ${json}`;
        if (field === 'snapshot' && /"open":\{|"complete":false/.test(json))
          return `${scope} has a part of a snapshot of ${key}`;
        if (/^controller\/[a-z]+$/.test(field) && /"inFlight":\{/.test(json))
          return `${scope} awaits an Outcome for ${key}`;
      }
    }
    return undefined;
  }
}

const readers: readonly (readonly [topic: Topic, role: string])[] = [
  ['changes', 'reconciler'],
  ['mutations', 'writer'],
];
