import type { FieldChange, ServiceState } from '@sluice/service-state';
import { hasReady } from './has-ready.ts';
import { isDoneJob } from './is-done-job.ts';

/** What a Service was like before, as far as it follows from earlier records. */
export interface ServicePast {
  /**
   * Whether Pods have matched its selector. `evicted`: the last one was evicted and not replaced, so nobody scaled the workload to
   * zero. Undefined: not known, because there were none when the recording began.
   */
  readonly pods: boolean | 'evicted' | undefined;
  /** Whether an endpoint has been ready since its first Pods were created, or the first ones after it had none for a while. */
  readonly hasServed: boolean;
}

interface Known extends ServicePast {
  /** Undefined: it is not known. */
  readonly selector: string | undefined;
  /** When its last Pod was gone, in milliseconds since the Unix epoch; undefined: it has Pods. */
  readonly emptySince: number | undefined;
}

/** A problem that continued at the end of a former recording. */
interface FormerProblem {
  readonly key: string;
  readonly reason: string;
  /** In milliseconds since the Unix epoch. */
  readonly from: number;
}

/** What continued at its end. */
export interface FormerRecording {
  readonly problems: readonly FormerProblem[];
  /** Formatted keys of the Services that existed, or may have. */
  readonly services: readonly string[];
}

interface Observed {
  readonly state: ServiceState;
  readonly changes: readonly FieldChange[];
  readonly at: number;
  /** The Service did not exist before. */
  readonly isCreated: boolean;
}

/** A Pod of a StatefulSet, or of a Deployment with the strategy Recreate, is replaced sooner, in milliseconds. */
const replacedMs = 30_000;

/** Follows from record to record what each Service was like before. */
export class ServicePasts {
  readonly #services = new Map<string, Known>();

  /** Continues a former recording with these Services, of which those that had no Pods or had not started had a problem. */
  restore({ problems, services }: FormerRecording): void {
    for (const key of services)
      this.#services.set(key, { selector: undefined, pods: true, hasServed: true, emptySince: undefined });
    for (const { key, reason, from } of problems) {
      const pods = reason !== 'NoMatchingPods';
      if (reason === 'ScaledToZero' || !pods)
        this.#services.set(key, { selector: undefined, pods, hasServed: true, emptySince: from });
      if (reason === 'NotStarted')
        this.#services.set(key, { selector: undefined, pods, hasServed: false, emptySince: undefined });
    }
  }

  /** Undefined for a Service without a selector. */
  observe(key: string, observed: Observed): ServicePast | undefined {
    const selector = observed.state.service?.service?.selector ?? null;
    if (selector === null) {
      this.#services.delete(key);
      return undefined;
    }
    const before = observed.isCreated ? undefined : this.#services.get(key);
    const known = after(before, observed, JSON.stringify(selector));
    this.#services.set(key, known);
    return known;
  }

  remove(key: string): void {
    this.#services.delete(key);
  }
}

function after(before: Known | undefined, { state, changes, at, isCreated }: Observed, selector: string): Known {
  const isServing = hasReady(state.slices.values());
  const hasServed = isServing || (before?.hasServed ?? !isCreated);
  if (hasRunning(state)) {
    const { emptySince, pods } = before ?? {};
    const isLater = emptySince !== undefined && (at - emptySince >= replacedMs || hasDoneJob(state));
    const isStarting = isLater && pods !== 'evicted';
    return { selector, pods: true, hasServed: isServing || (hasServed && !isStarting), emptySince: undefined };
  }
  const emptySince = before?.emptySince ?? at;
  if (before === undefined) return { selector, pods: isCreated ? false : undefined, hasServed, emptySince };
  const isEvicted = changes.some((one) => one.kind === 'pod' && one.before?.pod.details?.disruption);
  const isSelected = before.selector === undefined || before.selector === selector;
  const pods = !isSelected ? false : isEvicted ? 'evicted' : before.pods;
  return { selector, pods, hasServed, emptySince };
}

function hasRunning({ pods }: ServiceState): boolean {
  for (const { pod } of pods.values()) if (!pod.terminal) return true;
  return false;
}

/** A Job that is done is not replaced: another one starts. */
function hasDoneJob({ pods }: ServiceState): boolean {
  for (const { pod } of pods.values()) if (isDoneJob(pod)) return true;
  return false;
}
