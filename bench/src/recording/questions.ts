import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiServerHttp, FakeApiServer, kubeconfigOf } from '@sluice/fake-apiserver';
import { freePorts } from '@sluice/local';
import { randomInteger, seededRandom } from '@sluice/platform';
import { systemClock as clock } from '@sluice/platform/process';
import { say } from '@sluice/program';
import type { Shape } from '../shape.ts';
import { percentile } from '../statistics.ts';
import { cluster, fillRecording } from './fill-recording.ts';

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
const warmUp = 20;
const days = 6 * 86_400_000;

/** How fast a console answers from a recording of this size. */
export async function measureQuestions({ directory, shape, entries, questions }: QuestionOptions): Promise<Answers> {
  const path = join(directory, 'filled');
  const from = clock.now() - days;
  const at = (entry: number) => from + (entry * (days - 60_000)) / entries;
  const appendedPerSecond = fillRecording(path, shape, entries, at);
  const http = new ApiServerHttp({ server: new FakeApiServer({ clock, random: seededRandom(1) }), clock });
  const kubeconfig = join(directory, 'empty.json');
  writeFileSync(kubeconfig, JSON.stringify(kubeconfigOf(await http.listen(), 'c')));
  const [port = 0] = await freePorts(1);
  const recording = ['--recording-dir', path, '--recording-max-bytes', '100Gi'];
  const args = ['observe', '--kubeconfig', kubeconfig, ...recording, '--metrics-bind-address', `127.0.0.1:${port}`];
  const observer = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await once(observer.stdout, 'data');
    const random = seededRandom(2);
    const ask = async (what: string, requests: (given: Asked) => readonly string[], count: number) => {
      const times: number[] = [];
      for (let i = 0; i < count; i++) {
        const service = randomInteger(random, 0, shape.services - 1);
        const time = Math.floor(at(randomInteger(random, Math.floor(entries / 4), entries - 1)));
        const startedAt = performance.now();
        for (const request of requests({ service, time })) {
          const response = await fetch(`http://127.0.0.1:${port}/api/v1/${request}`);
          if (!response.ok) throw new Error(`${request}: ${response.status}: ${await response.text()}`);
          await response.arrayBuffer();
        }
        times.push(performance.now() - startedAt);
      }
      say(what);
      return [what, percentile(times, 0.5), percentile(times, 0.99), Math.max(...times)] as const;
    };
    // The first question loads the console.
    const [, firstMs] = await ask('first', history, 1);
    await ask('warm-up', history, warmUp);
    const latencies: (readonly [string, number, number, number])[] = [];
    for (const [what, requests] of Object.entries(asked)) latencies.push(await ask(what, requests, questions));
    return { gigabytes: sizeOf(path) / 1e9, appendedPerSecond, firstMs, latencies };
  } finally {
    observer.kill('SIGKILL');
    await http.close();
  }
}

interface Asked {
  readonly service: number;
  /** In milliseconds since the Unix epoch. */
  readonly time: number;
}

const nameOf = ({ service }: Asked): string => `services/${cluster}/shop/s${service}`;
const history = (given: Asked) => [`${nameOf(given)}/history?until=${given.time}`];
const stateAt = (given: Asked) => `${nameOf(given)}?at=${given.time}`;
const hourMs = 3_600_000;
/** The hour before. */
const hour = ({ time }: Asked) => `since=${time - hourMs}&until=${time}`;
const ofService = ({ service }: Asked) => `cluster=${cluster}&namespace=shop&service=s${service}`;

/** The requests of each command, with its defaults and thus about the whole recording, or about an hour. */
const asked: Readonly<Record<string, (given: Asked) => readonly string[]>> = {
  history,
  'past state': (given) => [stateAt(given)],
  diff: (given) => [stateAt({ ...given, time: given.time - hourMs }), stateAt(given)],
  verify: (given) => [
    `propagations?${ofService(given)}&limit=1000&since=${given.time}&until=${given.time}`,
    `propagations?${ofService(given)}&limit=1000&until=${given.time}&sort=latest`,
  ],
  rollout: (given) => [`${nameOf(given)}/rollout?${hour(given)}`],
  problems: () => ['problems?open=true'],
  'problems, an hour': (given) => [`problems?${hour(given)}`],
  outages: () => ['outages'],
  'outages, an hour': (given) => [`outages?${hour(given)}`],
  slow: () => ['propagations?limit=20&startKnown=true'],
  'slow, an hour': (given) => [`propagations?limit=20&startKnown=true&${hour(given)}`],
  stuck: () => ['propagations?limit=20&open=true&atLeastMs=5000'],
  flapping: () => ['readiness-changes?limit=20'],
  'flapping, an hour': (given) => [`readiness-changes?limit=20&${hour(given)}`],
  drain: () => ['drains'],
  'drain, an hour': (given) => [`drains?${hour(given)}`],
  node: () => ['node-disruptions?limit=20&node=node-0'],
  'all Nodes': () => ['node-disruptions?limit=20'],
  'all Nodes, an hour': (given) => [`node-disruptions?limit=20&${hour(given)}`],
};

const sizeOf = (path: string): number =>
  readdirSync(path).reduce((sum, name) => sum + statSync(join(path, name)).size, 0);
