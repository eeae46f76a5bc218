/** Measures the watcher's cost of finding the Services of a Pod. See `--help`. */

import { ServiceSelectorCache } from '@sluice/controllers';
import type { StringMap } from '@sluice/model';
import { integer, integers } from '@sluice/program';
import { runBench } from './src/run-bench.ts';
import { median } from './src/statistics.ts';
import { number } from './src/table.ts';

/** Labels as Pods of a Deployment have them; the Service selects by two of the four. */
const labelsOf = (service: number): StringMap => ({
  app: `service-${service}`,
  tier: 'backend',
  'pod-template-hash': '7d9c6b5f8',
  'app.kubernetes.io/version': '2.14.1',
});
const selectorOf = (service: number): StringMap => ({ app: `service-${service}`, tier: 'backend' });

/** Without an index, for comparison: tests every selector. */
function scan(selectors: readonly (readonly [string, StringMap])[], labels: StringMap): string[] {
  const found: string[] = [];
  for (const [name, selector] of selectors) {
    let selects = true;
    for (const key in selector) if (labels[key] !== selector[key]) selects = false;
    if (selects) found.push(name);
  }
  return found;
}

/** Nanoseconds per event. `each`: expected number of Services found, to verify what is measured. */
function nanoseconds(
  pods: readonly StringMap[],
  events: number,
  find: (labels: StringMap) => readonly string[],
  each: number,
): number {
  let found = 0;
  const begin = process.hrtime.bigint();
  for (let i = 0; i < events; i++) found += find(pods[i % pods.length] ?? {}).length;
  const taken = Number(process.hrtime.bigint() - begin);
  if (Math.abs(found - each * events) >= 1) throw new Error(`${found} Services found, not ${each * events}`);
  return taken / events;
}

/** Cells of the table for a number of Services. */
function row(services: number, events: number, rounds: number): readonly string[] {
  const index = new ServiceSelectorCache();
  const selectors = Array.from({ length: services }, (_, i) => [`service-${i}`, selectorOf(i)] as const);
  for (const [name, selector] of selectors) index.update('shop', name, selector);
  const pods = Array.from({ length: Math.min(services, 1_000) }, (_, i) => labelsOf((i * 7919) % services));
  const others = pods.map((labels) => ({ ...labels, app: `job-${labels.app}` }));
  const column = (
    labels: readonly StringMap[],
    count: number,
    find: (labels: StringMap) => readonly string[],
    each: number,
  ) => number(median(Array.from({ length: rounds }, () => nanoseconds(labels, count, find, each))));
  const find = (labels: StringMap) => index.servicesFor('shop', labels);
  return [
    String(services),
    column(pods, events, find, 1),
    column(others, events, find, 0),
    column(pods, Math.max(1_000, events / services), (labels) => scan(selectors, labels), 1),
  ];
}

await runBench({
  name: 'routing',
  about: `Measures the watcher's cost of finding the Services of a Pod, by the number of Services in the namespace: for a Pod that
one Service selects, and for one that none does.
`,
  options: {
    services: integers([1, 100, 1000, 10_000], 'Services in the namespace'),
    events: integer(200_000, 'Pod events per round'),
    rounds: integer(5, 'rounds'),
  },
  measure: async ({ services, events, rounds }) => {
    const rows = services.map((count) => ({ cells: row(count, events, rounds) }));
    const head = ['Services', 'one match, ns', 'no match, ns', 'without index, ns'];
    return {
      tables: [{ title: 'Finding the Services of a Pod event', head, rows }],
      conditions: `Medians of ${rounds} rounds. `,
      json: { events, rounds, head, rows: rows.map(({ cells }) => cells) },
    };
  },
});
