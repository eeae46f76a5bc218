import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiServerHttp, FakeApiServer, kubeconfigOf } from '@sluice/fake-apiserver';
import { freePorts } from '@sluice/local';
import { type Change, encodeMessage, type Fact, formatServiceKey } from '@sluice/messages';
import type { EndpointSlice } from '@sluice/model';
import { aPodNamed, aService, aSlice, onNode } from '@sluice/model/testing';
import { randomInteger, seededRandom, silentLogger } from '@sluice/platform';
import { systemClock as clock } from '@sluice/platform/process';
import { say } from '@sluice/program';
import { RecordConverter, RecordingDirectory } from '@sluice/recording';
import type { Shape } from '../shape.ts';
import { percentile } from '../statistics.ts';

interface QuestionOptions {
  readonly directory: string;
  readonly shape: Shape;
  readonly entries: number;
  readonly questions: number;
}

export interface Answers {
  readonly gigabytes: number;
  readonly appendedPerSecond: number;
  /** Time of the first answer, in milliseconds. */
  readonly firstMs: number;
  /** What was asked, and p50, p99 and largest in milliseconds. */
  readonly latencies: readonly (readonly [string, number, number, number])[];
}

const program = join(import.meta.dirname, '../../../bin/sluice');
/** As the recorder requests them. */
const recordsPerSnapshot = 500;
const batch = 1_000;
const warmUp = 20;
const cluster = 'recorded';
const days = 6 * 86_400_000;

/** How fast a console answers from a recording of this size. */
export async function measureQuestions({ directory, shape, entries, questions }: QuestionOptions): Promise<Answers> {
  const path = join(directory, 'filled');
  const from = clock.now() - days;
  const at = (entry: number) => from + (entry * (days - 60_000)) / entries;
  const { appendedPerSecond } = fill(path, shape, entries, at);
  const http = new ApiServerHttp({ server: new FakeApiServer({ clock, random: seededRandom(1) }), clock });
  const kubeconfig = join(directory, 'empty.json');
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(await http.listen(), 'c')));
  const [port = 0] = await freePorts(1);
  const flags = [
    '--recording-dir',
    path,
    '--recording-max-bytes',
    '100Gi',
    '--metrics-bind-address',
    `127.0.0.1:${port}`,
  ];
  const observer = spawn(program, ['observe', '--kubeconfig', kubeconfig, ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    await once(observer.stdout, 'data');
    const random = seededRandom(2);
    const ask = async (what: string, questions: number) => {
      const times: number[] = [];
      for (let i = 0; i < questions; i++) {
        const service = `s${randomInteger(random, 0, shape.services - 1)}`;
        const time = Math.floor(at(randomInteger(random, Math.floor(entries / 4), entries - 1)));
        const query = what === 'history' ? `/history?until=${time}` : `?at=${time}`;
        const startedAt = performance.now();
        const response = await fetch(`http://127.0.0.1:${port}/api/v1/services/${cluster}/shop/${service}${query}`);
        if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
        await response.arrayBuffer();
        times.push(performance.now() - startedAt);
      }
      return [what, percentile(times, 0.5), percentile(times, 0.99), Math.max(...times)] as const;
    };
    // The first question loads the console.
    const [, firstMs] = await ask('history', 1);
    await ask('history', warmUp);
    say('asking');
    return {
      gigabytes: sizeOf(path) / 1e9,
      appendedPerSecond,
      firstMs,
      latencies: [await ask('history', questions), await ask('past state', questions)],
    };
  } finally {
    observer.kill('SIGKILL');
    await http.close();
  }
}

/** Writes entries of Services in turn: a Pod changes, then its slice. */
function fill(path: string, shape: Shape, entries: number, at: (entry: number) => number) {
  const limits = { maxBytes: 1e12, retentionMs: 7 * 86_400_000, minFreeBytes: 0 };
  const recording = new RecordingDirectory(path, { version: 'bench', limits });
  const services = Array.from({ length: shape.services }, (_, i) => new FilledService(`s${i}`, shape.pods));
  const converter = new RecordConverter(silentLogger);
  const cpu = process.cpuUsage();
  for (let entry = 0; entry < entries; ) {
    const records = [];
    for (; records.length < batch && entry < entries; entry++) {
      const service = services[Math.floor(entry / 2) % services.length];
      const message = service?.next(entry, at(entry));
      if (message === undefined) break;
      const record = {
        key: formatServiceKey(message.key),
        id: '',
        headers: {},
        payload: encodeMessage(message),
        message,
      };
      const added = converter.convert('changes', record, at(entry));
      if (added !== undefined) records.push(added);
    }
    if (recording.append(records, at(entry))) for (const service of services) service.restart();
    if (entry % 100_000 < batch) say(`${entry} of ${entries} entries`);
  }
  const { user, system } = process.cpuUsage(cpu);
  recording.close(at(entries));
  return { appendedPerSecond: entries / ((user + system) / 1e6) };
}

/** The messages of one Service. */
class FilledService {
  readonly #name: string;
  readonly #ready: boolean[];
  #sinceSnapshot = recordsPerSnapshot;
  #pod = 0;

  constructor(name: string, pods: number) {
    this.#name = name;
    this.#ready = Array.from({ length: pods }, () => true);
  }

  restart(): void {
    this.#sinceSnapshot = recordsPerSnapshot;
  }

  next(entry: number, observedAt: number): Change {
    const causes = (description: string) => ({ causes: { first: [{ description, observedAt }], more: 0 } });
    const key = { cluster, namespace: 'shop', service: this.#name };
    const common = { kind: 'change', key, stamp: { epoch: 1, sequence: entry + 1 } } as const;
    if (this.#sinceSnapshot++ >= recordsPerSnapshot) {
      this.#sinceSnapshot = 0;
      const resourceVersions = { endpoints: `${entry}`, endpointslices: `${entry}` };
      const pods = this.#ready.map((_, i) => this.#podFact(i));
      const facts = [
        { kind: 'service', service: aService({ name: this.#name }) } as const,
        ...pods,
        this.#sliceFact(entry),
      ];
      const snapshot = { first: true, last: true, initial: entry < 1e6, resourceVersions };
      return { ...common, ...causes('resync'), facts, snapshot };
    }
    if (entry % 2 === 1)
      return { ...common, ...causes(`EndpointSlice shop/${this.#name}-1 changed`), facts: [this.#sliceFact(entry)] };
    this.#pod = (this.#pod + 1) % this.#ready.length;
    const ready = !this.#ready[this.#pod];
    this.#ready[this.#pod] = ready;
    const text = `Pod shop/${this.#name}-${this.#pod} became ${ready ? 'ready' : 'not ready'}`;
    return { ...common, ...causes(text), facts: [this.#podFact(this.#pod)] };
  }

  #podFact(i: number): Fact {
    const { pod, node } = onNode(
      aPodNamed(`${this.#name}-${i}`, { ready: this.#ready[i] ?? true, ip: `10.0.0.${i}`, ips: [`10.0.0.${i}`] }),
    );
    return { kind: 'pod', name: pod.name, pod, node };
  }

  #sliceFact(entry: number): Fact {
    const endpoints: EndpointSlice['endpoints'] = this.#ready.map((ready, i) => ({
      addresses: [`10.0.0.${i}`],
      conditions: { ready, serving: ready, terminating: false },
      targetRef: { kind: 'Pod', namespace: 'shop', name: `${this.#name}-${i}`, uid: `uid-${this.#name}-${i}` },
      nodeName: 'node-a',
      zone: 'a',
    }));
    const slice = aSlice(`${this.#name}-1`, { endpoints });
    const metadata = { ...slice.metadata, resourceVersion: `${entry}` };
    return {
      kind: 'slice',
      name: metadata.name,
      uid: metadata.uid ?? '',
      slice: { ...slice, metadata },
      manager: 'kube-controller-manager',
    };
  }
}

const sizeOf = (path: string): number =>
  readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
