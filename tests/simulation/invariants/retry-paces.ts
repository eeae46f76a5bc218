import { isApiError } from '@sluice/kubernetes';
import { formatServiceKey, type PlannedMutations } from '@sluice/messages';
import type { Mutation } from '@sluice/model';
import type { Violations } from '../violations.ts';

/** What the simulated API servers ask for with 429, in milliseconds. */
const retryAfterMs = 1_000;

/** A write of a plan that was refused with Retry-After is not sent again before. */
export class RetryPaces {
  readonly #now: () => number;
  readonly #violations: Violations;
  readonly #notBefore = new Map<string, number>();

  constructor(now: () => number, violations: Violations) {
    this.#now = now;
    this.#violations = violations;
  }

  refused(member: string, plan: PlannedMutations, mutation: Mutation, error: unknown): void {
    if (!isApiError(error) || error.status !== 429) return;
    this.#notBefore.set(nameOf(member, plan, mutation), this.#now() + retryAfterMs);
  }

  check(member: string, plan: PlannedMutations, mutation: Mutation): void {
    const earlyMs = (this.#notBefore.get(nameOf(member, plan, mutation)) ?? 0) - this.#now();
    if (earlyMs > 0)
      this.#violations.report(
        'no retry before Retry-After',
        `${member} repeats ${mutation.verb} ${mutation.resource} for ${plan.key.service} ${earlyMs} ms early`,
      );
  }
}

function nameOf(member: string, { key, controller, plan }: PlannedMutations, mutation: Mutation): string {
  const { verb, resource } = mutation;
  const name = mutation.verb === 'delete' ? mutation.name : mutation.object.metadata.name;
  return `${member} ${formatServiceKey(key)}/${controller}/${plan.epoch}/${plan.number} ${verb} ${resource} ${name}`;
}
