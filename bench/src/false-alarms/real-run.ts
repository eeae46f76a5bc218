import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ControlPlane,
  freePorts,
  ServerProcess,
  startControlPlane,
  startKubeControllerManager,
} from '@sluice/local';
import { type Random, randomInteger, seededRandom } from '@sluice/platform';
import { systemClock as clock } from '@sluice/platform/process';
import { say } from '@sluice/program';
import { ApiClient } from '../api-client.ts';
import { type Finding, GroundTruth } from './ground-truth.ts';
import { OrdinaryCluster } from './ordinary-cluster.ts';
import { RealApi } from './real-api.ts';

interface RealRunOptions {
  readonly directory: string;
  readonly services: number;
  readonly minutes: number;
  readonly seed: number;
}

export interface RealRun {
  readonly findings: readonly Finding[];
  readonly truth: GroundTruth;
}

const program = join(import.meta.dirname, '../../../bin/sluice');
/** How long a server needs from its start until everything is written. */
const startsWithinSeconds = 15;
/** Until all Pods are ready at first. */
const settlesMs = 180_000;
const controllers = [
  ...['endpoints-controller', 'endpointslice-controller', 'endpointslice-mirroring-controller'],
  'namespace-controller',
];

/** Runs kube-controller-manager and "sluice observe" on a real API server with ordinary operations, one every few seconds. */
export async function measureRealRun({ directory, services, minutes, seed }: RealRunOptions): Promise<RealRun> {
  const cluster = join(directory, 'cluster');
  const controlPlane = await startControlPlane({ directory: cluster, name: 'bench', authorization: 'AlwaysAllow' });
  const client = new ApiClient(controlPlane.adminKubeconfig);
  const alarms = await Alarms.listen();
  try {
    const manager = await startKubeControllerManager(controlPlane, { controllers });
    const observer = await observe(controlPlane, directory, alarms.url);
    const truth = new GroundTruth();
    const api = new RealApi(client);
    const random = seededRandom(seed);
    const load = new OrdinaryCluster({ api, clock, random, truth, services });
    say('waiting until all Pods are ready');
    await sleep(settlesMs);
    await observer.start();
    const { kubeApiserver } = controlPlane.processes;
    const pauseWriting = async (server: ServerProcess, seconds: number) => {
      truth.pauseUntil(clock.now() + (seconds + startsWithinSeconds) * 1_000);
      await pause(server, seconds);
    };
    const operations = new Operations(load, random, [
      ['another kube-controller-manager takes over', () => pauseWriting(manager, randomInteger(random, 15, 20))],
      ['the API server restarts', () => pauseWriting(kubeApiserver, randomInteger(random, 5, 20))],
      [
        'the recorder restarts',
        () => {
          alarms.forget();
          return pause(observer, randomInteger(random, 3, 60));
        },
      ],
    ]);
    const end = clock.now() + minutes * 60_000;
    for (let minute = 1; clock.now() < end; minute++) {
      await operations.run(Math.min(60_000, end - clock.now()));
      if (minute % 10 === 0) say(`${minute} of ${minutes} minutes: ${alarms.findings.length} findings so far`);
    }
    truth.end(clock.now());
    await observer.stop();
    await manager.stop();
    await api.stop();
    return { findings: alarms.findings, truth };
  } finally {
    alarms.close();
    client.close();
    await controlPlane.stop();
  }
}

async function observe(controlPlane: ControlPlane, directory: string, webhook: string): Promise<ServerProcess> {
  const [port = 0] = await freePorts(1);
  const [recording, file] = [join(directory, 'recording'), join(directory, 'webhook')];
  mkdirSync(recording);
  writeFileSync(file, webhook);
  return new ServerProcess({
    ...{ name: 'observe', program, log: join(directory, 'observe.log') },
    args: [
      ...['observe', '--kubeconfig', controlPlane.adminKubeconfig, '--recording-dir', recording],
      ...['--problems-webhook-file', file, '--metrics-bind-address', `127.0.0.1:${port}`],
    ],
  });
}

async function pause(server: ServerProcess, seconds: number): Promise<void> {
  await server.stop(2_000);
  await sleep(seconds * 1_000);
  await server.start();
}

/** Between two operations on average, in milliseconds. */
const everyMs = 4_000;
/** Between two pauses of a server. */
const pauseEveryMs = 600_000;

type Pause = readonly [title: string, run: () => Promise<void>];

/** Ordinary operations at random times. */
class Operations {
  readonly #load: OrdinaryCluster;
  readonly #random: Random;
  readonly #pauses: readonly Pause[];
  #pausedAt = clock.now();
  #pauseCount = 0;

  constructor(load: OrdinaryCluster, random: Random, pauses: readonly Pause[]) {
    this.#load = load;
    this.#random = random;
    this.#pauses = pauses;
  }

  async run(forMs: number): Promise<void> {
    for (const until = clock.now() + forMs; clock.now() < until; ) {
      await sleep(Math.min(randomInteger(this.#random, 1, 2 * everyMs), Math.max(0, until - clock.now())));
      this.#any()();
      if (clock.now() - this.#pausedAt < pauseEveryMs) continue;
      this.#pausedAt = clock.now();
      const [title, pauseNow] = this.#pauses[this.#pauseCount++ % this.#pauses.length] ?? [];
      say(`${title}`);
      // The operations continue meanwhile.
      const paused = pauseNow?.();
      paused?.catch((error) => say(`${title}: ${error}`));
    }
  }

  #any(): () => void {
    const load = this.#load;
    const between = (from: number, to: number) => randomInteger(this.#random, from, to);
    const weighted: readonly (readonly [number, () => void])[] = [
      [20, () => load.crashAny()],
      [10, () => load.deleteAnyPod()],
      [25, () => load.rollOutAny()],
      [20, () => load.scaleAny()],
      [5, () => load.changeCustomEndpoints()],
      [5, () => load.of('report').forEach((one) => void load.runJob(one, between(20, 120)))],
      [3, () => load.openPreview(between(120, 600))],
      [4, () => load.switchOfficeHours()],
    ];
    let at = this.#random.next() * weighted.reduce((sum, [weight]) => sum + weight, 0);
    const chosen = weighted.find(([weight]) => {
      at -= weight;
      return at < 0;
    });
    return chosen?.[1] ?? (() => {});
  }
}

interface Alert {
  readonly status: 'firing' | 'resolved';
  readonly labels: Readonly<Record<'alertname' | 'namespace' | 'service', string>>;
  readonly startsAt: string;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Receives what the recorder sends to a webhook. */
class Alarms {
  readonly findings: Finding[] = [];
  readonly #open = new Map<string, Finding>();
  readonly #server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { alerts } = JSON.parse(Buffer.concat(parts).toString()) as { readonly alerts: readonly Alert[] };
      for (const alert of alerts) this.#receive(alert);
      response.end();
    });
  });

  static async listen(): Promise<Alarms> {
    const alarms = new Alarms();
    await new Promise<void>((resolve) => alarms.#server.listen(0, '127.0.0.1', resolve));
    return alarms;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  }

  /** A recorder that has restarted sends what continues once more. */
  forget(): void {
    for (const finding of this.#open.values()) finding.to = clock.now();
    this.#open.clear();
  }

  close(): void {
    this.#server.close();
  }

  #receive({ status, labels, startsAt, annotations }: Alert): void {
    const { alertname: reason, namespace, service } = labels;
    const name = `${namespace}/${service} ${reason}`;
    const known = this.#open.get(name);
    if (status === 'resolved') {
      if (known !== undefined) known.to = clock.now();
      this.#open.delete(name);
      return;
    }
    const finding = {
      service: `${namespace}/${service}`,
      reason,
      from: Date.parse(startsAt),
      to: Number.POSITIVE_INFINITY,
      message: Object.values(annotations).join(' '),
    };
    this.#open.set(name, finding);
    this.findings.push(finding);
  }
}
