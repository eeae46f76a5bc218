/** An alarm of the recorder: a problem that `sluice problems` lists. */
export interface Finding {
  /** NAMESPACE/NAME of the Service. */
  readonly service: string;
  readonly reason: string;
  /** When the problem began, and when it was no longer listed, in milliseconds since the Unix epoch. */
  readonly from: number;
  to: number;
  readonly message?: string;
}

/** Something that an operator wants to know. */
export interface Incident {
  readonly title: string;
  /** NAMESPACE/NAME; undefined: any. */
  readonly service: string | undefined;
  /** One of them must be found; all of them are true meanwhile. Empty: every reason is true. */
  readonly reasons: readonly string[];
  readonly from: number;
  readonly to: number;
}

interface Outage {
  readonly from: number;
  to: number;
  /** The Service has not had a ready Pod since it was created, or since its workload was scaled to zero. */
  readonly isStart: boolean;
}

/** Clients notice that a Service does not answer for so long, in milliseconds. */
const noticedMs = 30_000;
/** A Deployment counts as failed if its Pods need longer: the default of `progressDeadlineSeconds`. */
const startsWithinMs = 600_000;
/** What follows an incident until everything is as before: slices, relists and the ten minutes that changes are counted. */
const afterMs = 660_000;
/** Findings begin when the recorder sees what the load did some moments before. */
const delayMs = 15_000;

/** As in the runbook of problems. */
const flapping = { changes: 6, withinMs: 600_000 };

const outageReasons: readonly string[] = ['NoReadyEndpoints', 'NoMatchingPods', 'NotStarted', 'ScaledToZero'];

/** While the controller is stopped, slices show Pods as ready that are not. */
const seenAs = [...outageReasons, 'LateChange'];

/** What really happened, as the load knows it. It shares no code with the recorder. */
export class GroundTruth {
  readonly #outages = new Map<string, Outage[]>();
  readonly #open = new Map<string, Outage>();
  readonly #hasServed = new Set<string>();
  /** When each Pod became ready or not ready, by Service and name. */
  readonly #readiness = new Map<string, Map<string, number[]>>();
  readonly incidents: Incident[] = [];
  #pausedUntil = 0;

  /** Nobody writes Endpoints and slices until then, so that clients do not find Pods that become ready. */
  pauseUntil(at: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, at);
  }

  /** The state of a Service after a change. `isWanted`: it should have Pods. */
  observe(service: string, at: number, { isServing, isWanted }: { isServing: boolean; isWanted: boolean }): void {
    const open = this.#open.get(service);
    if (isServing) this.#hasServed.add(service);
    if (open !== undefined && (isServing || !isWanted)) {
      open.to = Math.max(at, this.#pausedUntil);
      this.#open.delete(service);
    }
    if (isWanted && !isServing && open === undefined) {
      const outage = { from: at, to: Number.POSITIVE_INFINITY, isStart: !this.#hasServed.has(service) };
      this.#open.set(service, outage);
      this.#outages.set(service, [...(this.#outages.get(service) ?? []), outage]);
    }
    if (!isWanted) this.#hasServed.delete(service);
  }

  /** A Pod became ready or not ready. */
  observeReadiness(service: string, pod: string, at: number): void {
    const pods = this.#readiness.get(service) ?? new Map<string, number[]>();
    this.#readiness.set(service, pods);
    pods.set(pod, [...(pods.get(pod) ?? []), at]);
  }

  /** Nothing is observed any more. */
  end(at: number): void {
    for (const open of this.#open.values()) open.to = at;
    this.#open.clear();
  }

  add(incident: Incident): void {
    this.incidents.push(incident);
  }

  isTrue({ service, reason, from, to }: Finding): boolean {
    const isDuring = (one: { readonly from: number; readonly to: number }, margin: number) =>
      one.from - delayMs <= to && one.to + margin >= from;
    const isIncident = this.incidents.some(
      (one) =>
        (one.service ?? service) === service &&
        (one.reasons.length === 0 || one.reasons.includes(reason)) &&
        isDuring(one, afterMs),
    );
    if (isIncident || (reason === 'Flapping' && this.#isFlapping(service, { from, to }))) return true;
    if (!outageReasons.includes(reason)) return false;
    return (this.#outages.get(service) ?? []).some(
      (one) => one.to - one.from >= (one.isStart ? startsWithinMs : noticedMs) && isDuring(one, delayMs),
    );
  }

  /** Whether the load changed a Pod as often as the runbook of problems says. */
  #isFlapping(service: string, { from, to }: Pick<Finding, 'from' | 'to'>): boolean {
    return [...(this.#readiness.get(service)?.values() ?? [])].some((times) =>
      times.some((first, i) => {
        const last = times[i + flapping.changes - 1] ?? Number.POSITIVE_INFINITY;
        return last - first <= flapping.withinMs + delayMs && first - delayMs <= to && last + flapping.withinMs >= from;
      }),
    );
  }

  /** Planted incidents and long outages. */
  get expected(): readonly Incident[] {
    return [...this.incidents, ...this.#longOutages];
  }

  /** Whether a finding shows the incident while it lasts. */
  isFound(incident: Incident, findings: readonly Finding[]): boolean {
    return findings.some(
      ({ service, reason, from, to }) =>
        (incident.service ?? service) === service &&
        (incident.reasons.length === 0 || incident.reasons.includes(reason)) &&
        from - delayMs <= incident.to &&
        to >= incident.from,
    );
  }

  /** Of Services that had served. Each is so long that it must be found. */
  get #longOutages(): readonly Incident[] {
    return [...this.#outages].flatMap(([service, outages]) =>
      outages
        .filter(({ from, to, isStart }) => !isStart && to - from >= 2 * noticedMs)
        .map(({ from, to }) => ({ title: 'no ready Pod for a minute', service, reasons: seenAs, from, to })),
    );
  }
}
