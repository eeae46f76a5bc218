import type { Fault, ResourceName } from '@sluice/fake-apiserver';
import type { Member, Role } from '../fleet.ts';
import type { World } from '../world.ts';
import type { Interruption } from './interruption.ts';

/** Time until a process that has ended is replaced, in milliseconds. */
const replacedAfterMs = 300;
/** How long lists come from a replica that is behind, in milliseconds. */
const staleForMs = 1_000;

const watched: readonly ResourceName[] = ['services', 'pods', 'nodes', 'endpoints', 'endpointslices'];

/** Interrupts a run at one place. Without an interruption, it only counts side effects. */
export class Interrupter {
  /** Side effects by role. */
  readonly effects = new Map<Role, number>();
  readonly #interruption: Interruption | undefined;
  #actions = 0;

  constructor(interruption: Interruption | undefined) {
    this.#interruption = interruption;
  }

  /** Whether the process of this role ends at its next side effect. */
  atEffect(role: Role): 'before' | 'after' | undefined {
    const effect = (this.effects.get(role) ?? 0) + 1;
    this.effects.set(role, effect);
    const given = this.#interruption;
    if (given?.kind !== 'crash' || given.role !== role || given.effect !== effect) return undefined;
    return given.when;
  }

  /** A process has ended at a side effect. */
  ended(member: Member, { fleet, clock }: World): void {
    fleet.end(member, 'kill');
    clock.schedule(replacedAfterMs, () => void fleet.start(member.role, member.cluster));
  }

  /** Call before each action of the user. */
  beforeAction(world: World): void {
    const action = ++this.#actions;
    const given = this.#interruption;
    if (given?.kind === 'unobserved') {
      if (action === given.from) this.#hide(given.resource, world);
      if (action === given.to) this.#show(given, world);
    }
    if (given?.kind === 'stale' && action === given.action) this.#listStale(given, world);
  }

  #hide(resource: ResourceName | 'all', { clusters }: World): void {
    const [cluster] = clusters;
    const only = resource === 'all' ? {} : { resource };
    for (const verb of ['watch', 'list'] as const) cluster?.faults.add({ verb, error: 'unavailable', ...only });
    for (const name of namesOf(resource)) cluster?.server.cutWatches('reset', name);
  }

  #show({ relists }: Extract<Interruption, { kind: 'unobserved' }>, { clusters }: World): void {
    const [cluster] = clusters;
    cluster?.faults.clear();
    if (relists) cluster?.server.compact();
  }

  #listStale({ behind, restarts }: Extract<Interruption, { kind: 'stale' }>, world: World): void {
    const { clusters, clock, fleet } = world;
    const [cluster] = clusters;
    const stale: Fault = { verb: 'list', error: 'stale', behind };
    if (restarts) {
      for (const member of fleet.members) if (member.role === 'watcher') this.ended(member, world);
    } else {
      // Watches of all resources expire, without a compaction, so that old replicas can answer.
      for (const resource of watched) cluster?.faults.add({ verb: 'watch', error: 'gone', times: 1, resource });
      cluster?.server.cutWatches('end');
    }
    cluster?.faults.add(stale);
    clock.schedule(restarts ? replacedAfterMs + staleForMs : staleForMs, () => cluster?.faults.clear());
  }
}

const namesOf = (resource: ResourceName | 'all'): readonly ResourceName[] =>
  resource === 'all' ? watched : [resource];
