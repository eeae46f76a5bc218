/**
 * Which plans may have sent the requests in flight. A request does not name its plan, and a plan that replaces another one may
 * contain some of the same mutations.
 */
export class RequestsInFlight {
  /** The plans of each request, by the name of the work that they are part of. */
  readonly #requests = new Map<string, Set<ReadonlySet<string>>>();

  /** Adds a request that one of the plans has sent. Returns the function to call at its end. */
  begin(work: string, plans: readonly string[]): () => void {
    const request = new Set(plans);
    const requests = this.#requests.get(work) ?? new Set();
    this.#requests.set(work, requests.add(request));
    return () => {
      requests.delete(request);
      if (requests.size === 0 && this.#requests.get(work) === requests) this.#requests.delete(work);
    };
  }

  /** Whether one plan may have sent all of them. */
  areOfOnePlan(work: string): boolean {
    const [first, ...others] = this.#requests.get(work) ?? [];
    if (first === undefined) return true;
    return [...first].some((plan) => others.every((plans) => plans.has(plan)));
  }
}
