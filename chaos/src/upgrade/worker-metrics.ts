/** Metrics of a worker that must be 0 at the end of each of its lives, and what another value says. */
export const problemMetrics = {
  sluice_dead_letters_total: 'records that it could not read',
  sluice_state_digest_mismatches_total: "Services whose state differed from the watcher's",
  sluice_malformed_objects_total: 'malformed objects',
  sluice_lease_unreadable_entries_total: 'unreadable leases',
  sluice_parked_services: 'parked Services',
} as const;

export type ProblemMetric = keyof typeof problemMetrics;

/** The sum of each of these metrics over its labels, in the text format of Prometheus. One that is absent is 0. */
export function sumMetrics(text: string): ReadonlyMap<ProblemMetric, number> {
  const sums = new Map((Object.keys(problemMetrics) as ProblemMetric[]).map((name) => [name, 0]));
  for (const line of text.split('\n')) {
    const [, name = '', value = ''] = /^([a-z_]+)(?:\{.*\})? (\S+)/.exec(line) ?? [];
    const sum = sums.get(name as ProblemMetric);
    if (sum !== undefined) sums.set(name as ProblemMetric, sum + Number(value));
  }
  return sums;
}
