import type { Mutation } from '@sluice/controllers';
import type { FakeApiServer } from '@sluice/fake-apiserver';
import { type ClusterWriter, chainWriter } from '@sluice/kubernetes';
import { decodeMessage, encodeMessage, formatServiceKey, type PlannedMutations, partitionOf } from '@sluice/messages';
import type { Clock } from '@sluice/runtime';
import type { Commit, GroupState } from '@sluice/store';
import { slicesOf } from './expected-endpoints.ts';

export interface AuditOptions {
  readonly server: FakeApiServer;
  readonly clock: Clock;
  readonly partitions: number;
  /** How long a state may lag behind, in milliseconds. */
  readonly lagMs: number;
}

export interface SteadyWrite {
  readonly at: number;
  readonly verb: string;
  readonly what: string;
}

/**
 * Audits every write of a fleet: a plan contains it, its sender owns the partition, and it removes no required
 * endpoint.
 */
export class Audit {
  readonly problems: string[] = [];
  /** Creates and deletes of slices of Services without disruptive changes. */
  readonly steady: SteadyWrite[] = [];
  readonly #options: AuditOptions;
  /** Plans by the signature of their mutations. */
  readonly #plans = new Map<string, PlannedMutations[]>();
  /** Holder of each plan partition. */
  readonly #holders = new Map<string, string>();
  /** Ready endpoints that belong in a slice, with the time since which they do. */
  #required = new Map<string, number>();
  /** Until this time two members may assume that they hold the same lease, because the store lost it. */
  #leasesLostUntil = 0;

  constructor(options: AuditOptions) {
    this.#options = options;
  }

  committed({ entries }: Commit): void {
    for (const { field, value } of entries) {
      if (!/^controller\/.*:plan$/.test(field) || value === undefined) continue;
      // In the form that the writer decodes.
      const plan = decodeMessage(encodeMessage(value as PlannedMutations)) as PlannedMutations;
      for (const mutation of plan.groups.flatMap(({ mutations }) => mutations)) {
        const id = signature(mutation);
        this.#plans.set(id, [...(this.#plans.get(id) ?? []), plan]);
      }
    }
  }

  group(name: string, { leases }: GroupState): void {
    if (name !== 'writer') return;
    this.#holders.clear();
    for (const { scope, holder } of leases) this.#holders.set(scope, holder);
  }

  leasesLost(forMs: number): void {
    this.#leasesLostUntil = this.#options.clock.now() + forMs;
  }

  /** Call after every change made by others. */
  observe(): void {
    const now = this.#options.clock.now();
    const required = slicesOf(this.#options.server).expected.filter(isReady);
    this.#required = new Map(required.map((line) => [line, this.#required.get(line) ?? now]));
  }

  /** The writer of a member, with its requests audited. */
  auditRequests(member: string, writer: ClusterWriter): ClusterWriter {
    return chainWriter(writer, (request, next) => {
      if (request.verb === 'create' || request.verb === 'update') {
        this.#checkRequest(member, request as unknown as Mutation);
      } else if (request.verb === 'delete') {
        this.#checkRequest(member, { ...request, ...request.preconditions } as unknown as Mutation);
      }
      return next(request);
    });
  }

  /** The server for the fleet's writers, which audits the effect of each write. */
  auditEffects(server: FakeApiServer): FakeApiServer {
    const before = () => new Set(slicesOf(server).actual.filter((line) => this.#required.has(line)));
    return new Proxy(server, {
      get: (target, property) => {
        const value: unknown = Reflect.get(target, property, target);
        if (typeof value !== 'function') return value;
        if (property !== 'create' && property !== 'update' && property !== 'delete') return value.bind(target);
        return (...given: unknown[]) => {
          const published = before();
          const result: unknown = value.apply(target, given);
          this.#checkEffect(String(property), given, published, before());
          return result;
        };
      },
    });
  }

  #checkRequest(member: string, mutation: Mutation): void {
    const id = signature(mutation);
    const plan = this.#plans.get(id)?.at(-1);
    if (plan === undefined) this.#problem(`${member}: no plan contains ${id}`);
    else this.#checkLease(member, plan);
  }

  #checkLease(member: string, plan: PlannedMutations): void {
    const partition = String(partitionOf(formatServiceKey(plan.key), this.#options.partitions));
    const holder = this.#holders.get(partition);
    if (holder === undefined || holder === member || this.#options.clock.now() < this.#leasesLostUntil) return;
    this.#problem(`${member} writes for partition ${partition}, which ${holder} owns`);
  }

  #checkEffect(verb: string, given: readonly unknown[], before: ReadonlySet<string>, after: ReadonlySet<string>): void {
    const [resource, second, third, preconditions] = given;
    if (resource !== 'endpointslices') return;
    const mutation =
      verb === 'delete'
        ? { verb, resource, name: third, ...(preconditions as object) }
        : { verb, resource, object: second };
    const id = signature(mutation as unknown as Mutation);
    const plan = this.#plans.get(id)?.at(-1);
    const decidedAt = plan?.decidedAt ?? Number.POSITIVE_INFINITY;
    const what = `${verb} for ${plan?.key.service} by plan ${plan?.plan.epoch}/${plan?.plan.number}`;
    for (const line of before) {
      const since = this.#required.get(line) ?? Number.POSITIVE_INFINITY;
      if (!after.has(line) && since < decidedAt - this.#options.lagMs) this.#problem(`${what} removes ${line}`);
    }
    if (plan?.key.service.startsWith('steady') && verb !== 'update')
      this.steady.push({ at: this.#options.clock.now(), verb, what: `${this.#at()} ${what}: ${id.slice(0, 80)}` });
  }

  #at(): string {
    return `+${(this.#options.clock.now() - Date.parse('2026-01-01T00:00:00Z')) / 1000}s`;
  }

  #problem(what: string): void {
    this.problems.push(`${this.#at()} ${what}`);
  }
}

const isReady = (line: string): boolean => line.endsWith(' true');

function signature(mutation: Mutation): string {
  const { verb, resource } = mutation;
  if (mutation.verb === 'delete') {
    return `${verb} ${resource} ${mutation.name} ${mutation.uid} ${mutation.resourceVersion}`;
  }
  return `${verb} ${resource} ${mutation.object.metadata.name} ${JSON.stringify(mutation.object)}`;
}
