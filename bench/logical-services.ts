/** Measures memory and delay of the Services over all clusters. See `--help`. */

import { setImmediate as yieldThread } from 'node:timers/promises';
import { History } from '@sluice/console';
import { conditionsOf, describeService, LogicalServices } from '@sluice/logical-services';
import { ClusterLog, endpoint } from '@sluice/logical-services/testing';
import { decodeMessage, encodeMessage, type Fact, type Message } from '@sluice/messages';
import { aPodNamed, aService } from '@sluice/model/testing';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { flag, integer, say } from '@sluice/program';
import { runBench } from './src/run-bench.ts';
import { percentile } from './src/statistics.ts';
import { number } from './src/table.ts';

const gc = globalThis.gc;
const heapBytes = () => {
  gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};
/** How long one turn of the thread describes Services. */
const turnMs = 10;

/** Adds the Pods of its slices to a Change, as a watcher publishes them. The join ignores them. */
function withPods(message: Message): Message {
  if (message.kind !== 'change') return message;
  const pods = message.facts.flatMap((fact) => (fact.kind === 'slice' ? (fact.slice?.endpoints ?? []) : []));
  const facts = pods.map(({ targetRef, zone = 'a' }): Fact => {
    const name = targetRef?.name ?? '';
    return {
      kind: 'pod',
      name,
      node: { zone },
      pod: aPodNamed(name, { uid: `uid-${name}`, ip: '10.0.0.1', ips: ['10.0.0.1'] }),
    };
  });
  return { ...message, facts: [...message.facts, ...facts] };
}

await runBench({
  name: 'logical-services',
  about: `Joins the Services of many clusters from encoded Changes, as a console does, then changes slices at a steady rate and meanwhile
describes all Services every second. The delay of a change is from the time when it was due until it is in the joined view.
With --history, also keeps the history of Services up to a number, from Changes with Pods, and measures how much memory that takes
before and after someone reads it.
`,
  options: {
    clusters: integer(1_000, 'clusters'),
    services: integer(1_000, 'Services in each cluster'),
    pods: integer(5, 'endpoints per Service and cluster'),
    rate: integer(1_000, 'changes per second'),
    seconds: integer(30, 'duration'),
    history: flag('keep the history of Services, as a console does'),
    'max-services': integer(50_000, 'maximum number of Services with a history'),
    seed: integer(1, 'seed of the load'),
  },
  async measure({ clusters, services, pods, rate, seconds, history: isKept, 'max-services': maxServices, seed }) {
    const history = isKept ? new History({ clock: systemClock, maxServices }) : undefined;
    const joined = history?.logicalServices ?? new LogicalServices();
    const logs = Array.from(
      { length: clusters },
      (_, i) => new ClusterLog(`0ea1c2d4-5f6b-4c7d-8e9f-${String(i).padStart(12, '0')}`),
    );
    const statuses = logs.map(({ cluster }, i) => ({ identity: cluster, name: `cluster-${i}`, lost: null }));
    const slices = (ready: boolean, service: number) =>
      new Map([
        [
          `web-${service}`,
          Array.from({ length: pods }, (_, i) =>
            endpoint(`web-${service}-5d9f8-${i}`, i > 0 || ready, `zone-${i % 3}`),
          ),
        ],
      ]);
    /** Applies what the log has published since, as bytes that were read from a bus. */
    const apply = (log: ClusterLog) => {
      for (const { key, message } of log.records.splice(0)) {
        if (history === undefined) joined.apply(key, decodeMessage(encodeMessage(message)), 0);
        else history.add('changes', 0, { id: '', key, headers: {}, payload: encodeMessage(withPods(message)) });
      }
    };
    const before = heapBytes();
    const fixedMb = process.memoryUsage.rss() / 1e6;
    const startedAt = performance.now();
    for (const [i, log] of logs.entries()) {
      for (let service = 0; service < services; service++) {
        log.snapshot(`web-${service}`, {
          service: aService({ name: `web-${service}` }),
          slices: slices(true, service),
        });
        apply(log);
      }
      if (i % 100 === 99) say(`${i + 1} of ${clusters} clusters`);
      await yieldThread();
    }
    const readMs = performance.now() - startedAt;
    const bytes = (heapBytes() - before) / (clusters * services);
    const kept = [...(history?.journals ?? [])];
    for (const journal of kept) journal.entries;
    const readBytes = (heapBytes() - before) / (clusters * services);

    const random = seededRandom(seed);
    const delays: number[] = [];
    const passes: number[] = [];
    let changed = 0;
    let applyUs = 0;
    const from = performance.now();
    const describeAll = async () => {
      const options = { clusters: statuses, policy: { action: 'keep', maxAgeMs: 0 }, now: 0 } as const;
      const begin = performance.now();
      let turn = begin;
      for (const service of joined.all) {
        conditionsOf(describeService(service, options));
        if (performance.now() - turn < turnMs) continue;
        await yieldThread();
        turn = performance.now();
      }
      passes.push(performance.now() - begin);
    };
    let describing: Promise<void> | undefined;
    let describedAt = from;
    while (performance.now() - from < seconds * 1_000) {
      const due = Math.floor(((performance.now() - from) / 1_000) * rate);
      for (; changed < due; changed++) {
        const log = logs[Math.floor(random.next() * clusters)];
        const service = Math.floor(random.next() * services);
        const name = `web-${service}`;
        if (log === undefined) continue;
        log.slice(name, name, slices(changed % 2 === 0, service).get(name) ?? []);
        const begin = process.threadCpuUsage();
        apply(log);
        const { user, system } = process.threadCpuUsage(begin);
        applyUs += user + system;
        delays.push(performance.now() - from - (changed / rate) * 1_000);
      }
      if (describing === undefined && performance.now() - describedAt >= 1_000) {
        describing = describeAll().finally(() => {
          [describing, describedAt] = [undefined, performance.now()];
        });
      }
      await yieldThread();
    }
    await describing;
    const rows = [
      ['Services of a cluster', `${clusters * services}`],
      ['heap per Service and cluster', `${number(bytes)} bytes`],
      ...(history === undefined
        ? []
        : [
            ['heap after all histories were read', `${number(readBytes)} bytes`],
            ['Services with a history', `${kept.length}`],
          ]),
      [
        'reading the log',
        `${number(readMs / 1_000)} s, ${number((readMs * 1_000) / (clusters * services))} µs per Change`,
      ],
      ['changes per second', `${number(delays.length / seconds)}`],
      ['CPU per change', `${number(applyUs / delays.length)} µs`],
      [
        'until a change is in the view: p50, p99',
        `${number(percentile(delays, 0.5))}, ${number(percentile(delays, 0.99))} ms`,
      ],
      ['describing all Services', `${number(percentile(passes, 0.5))} ms`],
      [
        'memory of the process at first, at most',
        `${number(fixedMb)}, ${number(process.resourceUsage().maxRSS / 1e3)} MB`,
      ],
    ];
    const json = {
      bytes,
      ...(history !== undefined && { readBytes, histories: kept.length }),
      changeMs: applyUs / 1_000 / delays.length,
      fixedMb,
      p50: percentile(delays, 0.5),
      p99: percentile(delays, 0.99),
      describeMs: percentile(passes, 0.5),
    };
    const title = `${clusters} clusters × ${services} Services × ${pods} endpoints, seed ${seed}`;
    return {
      tables: [{ title, head: ['', ''], rows: rows.map((cells) => ({ cells })) }],
      json,
      failed: json.p99 >= 1_000,
    };
  },
});
