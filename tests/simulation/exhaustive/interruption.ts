import type { ResourceName } from '@sluice/fake-apiserver';
import type { Role } from '../fleet.ts';
import type { Scenario } from '../scenario.ts';
import type { Interruption as RemovalInterruption } from '../suites/clusters/removal-steps.ts';
import type { Course, FleetKind } from './removal-courses.ts';

/** Sieve's three patterns, each at one place of a run. */
export type Interruption =
  /** A process ends before or after its nth side effect, whose answer it does not get. */
  | { readonly kind: 'crash'; readonly role: Role; readonly effect: number; readonly when: 'before' | 'after' }
  /**
   * The watcher sees nothing of a resource from one action to another. Then it resumes its watch, or lists the resource,
   * because its history is compacted.
   */
  | {
      readonly kind: 'unobserved';
      readonly resource: ResourceName | 'all';
      readonly from: number;
      readonly to: number;
      readonly relists: boolean;
    }
  /** Before an action the watcher lists again, from a replica that is some changes behind; perhaps as a new process. */
  | { readonly kind: 'stale'; readonly action: number; readonly behind: number; readonly restarts: boolean }
  /** A process ends or freezes after the nth step of the removal of a cluster. */
  | ({ readonly kind: 'removal'; readonly course: Course; readonly fleet: FleetKind } & RemovalInterruption);

/** A run of the small world, and where it is interrupted. */
export interface SmallState {
  readonly scenario: Scenario;
  readonly interruption: Interruption;
}

export function describeInterruption(given: Interruption): string {
  switch (given.kind) {
    case 'crash':
      return `the ${given.role} ends ${given.when} side effect ${given.effect}`;
    case 'unobserved':
      return `the watcher sees nothing of ${given.resource} from action ${given.from} to ${given.to}, then ${given.relists ? 'lists' : 'resumes'}`;
    case 'stale':
      return `${given.restarts ? 'a new watcher' : 'the watcher'} lists ${given.behind} changes behind before action ${given.action}`;
    case 'removal':
      return `in a fleet of ${given.fleet}, ${given.course}, and a process ${given.how} step ${given.step}`;
  }
}
