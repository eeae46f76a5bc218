/**
 * Measures the watcher's cost of finding the Services of a Pod, by the number of Services in the namespace: for a Pod that one
 * Service selects, and for one that none does. See `--help`.
 */

import { ServiceSelectorCache, type StringMap } from '@sluice/controllers';
import { count, list, optionsGiven, runProgram } from '@sluice/program';
import { median } from './src/statistics.ts';

const HELP = `usage: node bench/routing.ts [options]      (or: npm run bench:routing -- [options])

  --services N,N   Services in the namespace (1,100,1000,10000)
  --events N       Pod events per round (200000)
  --rounds N       rounds; results are medians over them (5)
`;

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

function main(): void {
  const values = optionsGiven({ services: '1,100,1000,10000', events: '200000', rounds: '5' }, HELP);
  if (values === undefined) return;
  const [events, rounds] = [count('events', values.events), count('rounds', values.rounds)];
  process.stdout.write(
    '| Services | one match, ns | no match, ns | without index, ns |\n| ---: | ---: | ---: | ---: |\n',
  );
  for (const services of list(values.services).map((text) => count('services', text))) {
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
    ) => median(Array.from({ length: rounds }, () => nanoseconds(labels, count, find, each))).toFixed(0);
    const find = (labels: StringMap) => index.servicesFor('shop', labels);
    const cells = [
      column(pods, events, find, 1),
      column(others, events, find, 0),
      column(pods, Math.max(1_000, events / services), (labels) => scan(selectors, labels), 1),
    ];
    process.stdout.write(`| ${services} | ${cells.join(' | ')} |\n`);
  }
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

await runProgram(main);
