import { type Change, encodeMessage, type Fact, formatServiceKey } from '@sluice/messages';
import type { EndpointSlice } from '@sluice/model';
import { aPodNamed, aService, aSlice, onNode } from '@sluice/model/testing';
import { silentLogger } from '@sluice/platform';
import { say } from '@sluice/program';
import { RecordConverter, RecordingDirectory } from '@sluice/recording';
import type { Shape } from '../shape.ts';

/** As the recorder requests them. */
const recordsPerSnapshot = 500;
const batch = 1_000;
/** A Service has a Pod replaced, its Node lost or an outage once in so many events. */
const [replacedEvery, lostEvery, outEvery] = [10, 1_009, 997];

/** The cluster of a filled recording. */
export const cluster = 'recorded';

/**
 * Writes entries of Services in turn: one or more Pods change, then their slice. Most Pods only become not ready and ready again.
 * Returns how many entries were written per second of CPU.
 */
export function fillRecording(path: string, shape: Shape, entries: number, at: (entry: number) => number): number {
  const limits = { maxBytes: 1e12, retentionMs: 7 * 86_400_000, minFreeBytes: 0 };
  const recording = new RecordingDirectory(path, { version: 'bench', limits });
  const services = Array.from({ length: shape.services }, (_, i) => new FilledService(i, shape.pods));
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
  return entries / ((user + system) / 1e6);
}

type PodState = 'ready' | 'not ready' | 'deleted';

/** The messages of one Service. */
class FilledService {
  readonly #name: string;
  readonly #node: string;
  readonly #pods: PodState[];
  #isNodeReady = true;
  #sinceSnapshot = recordsPerSnapshot;
  #events: number;
  /** What the next event ends. */
  #undo: (() => readonly [string, readonly Fact[]]) | undefined;

  constructor(index: number, pods: number) {
    this.#name = `s${index}`;
    this.#node = `node-${index}`;
    this.#pods = Array.from({ length: pods }, () => 'ready' as const);
    // Not all Services at once.
    this.#events = index;
  }

  restart(): void {
    this.#sinceSnapshot = recordsPerSnapshot;
  }

  next(entry: number, observedAt: number): Change {
    const key = { cluster, namespace: 'shop', service: this.#name };
    const resourceVersions = { endpoints: `${entry}`, endpointslices: `${entry}` };
    const change = (description: string, facts: readonly Fact[]) => ({
      ...({ kind: 'change', key, stamp: { epoch: 1, sequence: entry + 1 }, facts, resourceVersions } as const),
      causes: { first: [{ description, observedAt }], more: 0 },
    });
    if (this.#sinceSnapshot++ >= recordsPerSnapshot) {
      this.#sinceSnapshot = 0;
      const service = { kind: 'service', service: aService({ name: this.#name }) } as const;
      const snapshot = { first: true, last: true, initial: entry < 1e6, resourceVersions };
      return { ...change('resync', [service, ...this.#allPods(), this.#sliceFact(entry)]), snapshot };
    }
    if (entry % 2 === 1) return change(`EndpointSlice shop/${this.#name}-1 changed`, [this.#sliceFact(entry)]);
    return change(...this.#event());
  }

  #event(): readonly [string, readonly Fact[]] {
    const undo = this.#undo;
    this.#undo = undefined;
    if (undo !== undefined) return undo();
    const event = this.#events++;
    if (event % lostEvery === 0) {
      this.#undo = () => this.#setNode(true);
      return this.#setNode(false);
    }
    if (event % outEvery === 0) {
      this.#undo = () => this.#setPods(0, this.#pods.length, 'ready');
      return this.#setPods(0, this.#pods.length, 'not ready');
    }
    const pod = event % this.#pods.length;
    this.#undo = () => this.#setPods(pod, pod + 1, 'ready');
    return this.#setPods(pod, pod + 1, event % replacedEvery === 0 ? 'deleted' : 'not ready');
  }

  #setNode(isReady: boolean): readonly [string, readonly Fact[]] {
    this.#isNodeReady = isReady;
    return [`Node ${this.#node} became ${isReady ? 'ready' : 'not ready (NodeStatusUnknown)'}`, this.#allPods()];
  }

  #setPods(from: number, to: number, state: PodState): readonly [string, readonly Fact[]] {
    this.#pods.fill(state, from, to);
    const text = `Pod shop/${this.#name}-${from} ${state === 'deleted' ? 'was deleted' : `became ${state}`}`;
    return [text, this.#allPods().slice(from, to)];
  }

  #allPods(): readonly Fact[] {
    return this.#pods.map((state, i) => {
      const name = `${this.#name}-${i}`;
      if (state === 'deleted') return { kind: 'pod', name, pod: null, node: null };
      const ip = `10.0.0.${i}`;
      const { pod, node } = onNode(aPodNamed(name, { ready: state === 'ready', ip, ips: [ip], nodeName: this.#node }));
      const condition = this.#isNodeReady ? {} : { condition: 'not ready (NodeStatusUnknown)' };
      return { kind: 'pod', name, pod, node: node && { ...node, ...condition } };
    });
  }

  #sliceFact(entry: number): Fact {
    const endpoints: EndpointSlice['endpoints'] = this.#pods.flatMap((state, i) =>
      state === 'deleted' ? [] : [this.#endpoint(i, state === 'ready')],
    );
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

  #endpoint(i: number, ready: boolean) {
    return {
      addresses: [`10.0.0.${i}`],
      conditions: { ready, serving: ready, terminating: false },
      targetRef: { kind: 'Pod', namespace: 'shop', name: `${this.#name}-${i}`, uid: `uid-${this.#name}-${i}` },
      nodeName: this.#node,
      zone: 'a',
    };
  }
}
