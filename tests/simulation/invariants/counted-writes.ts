import type { Middleware } from '@sluice/kubernetes';
import { Metrics } from '@sluice/telemetry';
import type { Fleet } from '../fleet.ts';
import type { Violations } from '../violations.ts';

const writes: ReadonlySet<string> = new Set(['create', 'update', 'delete']);

/** The metrics of writers count the writes that API servers have answered with success, each once. */
export class CountedWrites {
  /** Of all writers of the run. */
  readonly metrics = new Metrics({ clusters: new Map(), fleet: true, process: false });
  /** By member, and by identity, verb and resource. */
  readonly #answered = new Map<string, Map<string, number>>();

  /** Counts what a writer is answered; its requests are sent with `send`. */
  requests(member: string, identity: string, send: Middleware): Middleware {
    return async (request, next) => {
      const answer = await send(request, next);
      if (!writes.has(request.verb) || !('resource' in request)) return answer;
      const name = `${identity} ${request.verb} ${request.resource}`;
      const answered = this.#answered.get(member) ?? new Map<string, number>();
      this.#answered.set(member, answered.set(name, (answered.get(name) ?? 0) + 1));
      return answer;
    };
  }

  /** Call this once nothing is written any more. What members have counted that ended, or got no answers, is not known. */
  async check({ members }: Fleet, violations: Violations): Promise<void> {
    const counted = await this.#counted();
    const [all, least] = [new Map<string, number>(), new Map<string, number>()];
    const alive = new Set(members.filter(({ process }) => !process.isCutOff).map(({ name }) => name));
    for (const [member, answered] of this.#answered) {
      for (const [name, count] of answered) {
        all.set(name, (all.get(name) ?? 0) + count);
        if (alive.has(member)) least.set(name, (least.get(name) ?? 0) + count);
      }
    }
    for (const name of new Set([...all.keys(), ...counted.keys()])) {
      const [found, min, max] = [counted.get(name) ?? 0, least.get(name) ?? 0, all.get(name) ?? 0];
      if (found < min || found > max)
        violations.report('writes are counted', `${name}: ${found} are counted, and ${min} to ${max} were answered`);
    }
  }

  async #counted(): Promise<ReadonlyMap<string, number>> {
    const { body } = await this.metrics.expose(undefined);
    const counted = new Map<string, number>();
    for (const [, given = '', value = ''] of body.matchAll(/^sluice_write_requests_total\{(.*)\} (\d+)$/gm)) {
      const labels = Object.fromEntries([...given.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key, text]));
      const { cluster, verb = '', resource, code } = labels;
      if (code === '2xx' && writes.has(verb)) counted.set(`${cluster} ${verb} ${resource}`, Number(value));
    }
    return counted;
  }
}
