import { History, readLogs } from '@sluice/console';
import type { OpenInfrastructure } from '@sluice/fleet/roles';
import { decodeMessage, type PlannedMutations, parseServiceKey } from '@sluice/messages';
import { randomInteger, seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { until } from '@sluice/platform/testing';
import { defaultSettings, replayLog } from '@sluice/service-state';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RealFleet } from './harness/real-fleet.ts';
import {
  createNamespace,
  createPod,
  createService,
  deletePod,
  deleteService,
  setReady,
} from './harness/real-services.ts';
import { stateDifferences } from './harness/state-differences.ts';
import { storedStates } from './harness/stored-states.ts';

/**
 * Processes of a fleet on real NATS, Redis and kube-apiserver are killed while users change Services and Pods. Replaying the log of
 * each Service then gives what Redis has stored, as the simulation shows for its seeds (tests/simulation/invariants).
 */
const seed = 1;
const random = seededRandom(seed);
const partitions = 4;
const services = ['web', 'cart', 'mail'] as const;
const roles = ['watcher', 'reconciler', 'writer'] as const;
const kills = 9;
let fleet: RealFleet;
let infrastructure: OpenInfrastructure;
const running = { watcher: 'watcher', reconciler: 'reconciler', writer: 'writer' };
let replaced = 0;

beforeAll(async () => {
  fleet = await RealFleet.open({ controllers: { maxEndpointsPerSlice: 50 } });
  infrastructure = await fleet.openInfrastructure();
  await createNamespace(fleet.user);
  for (const name of services) {
    await createService(fleet.user, name);
    for (const number of [0, 1, 2]) await createPod(fleet.user, name, number);
  }
  for (const role of roles) fleet.start(role, role);
  await fleet.converged();
});

afterAll(async () => {
  await infrastructure?.close();
  await fleet?.stop();
});

/** Changes each Service a few times. */
async function change(): Promise<void> {
  for (const name of services)
    for (const ready of [false, true, randomInteger(random, 0, 1) === 0])
      await setReady(fleet.user, name, randomInteger(random, 0, 2), ready);
}

/** Kills the process of a role without warning and starts another one. */
async function replace(role: (typeof roles)[number]): Promise<void> {
  const { child, exited } = fleet.process(running[role]);
  child.kill('SIGKILL');
  await exited;
  running[role] = `${role}-${++replaced}`;
  fleet.start(running[role], role);
}

/** How the stored states differ from those that the logs give. */
async function differences(): Promise<readonly string[]> {
  const history = new History({ clock: systemClock });
  await readLogs(infrastructure.bus, history, new AbortController().signal);
  const states = await storedStates(infrastructure.store, partitions);
  return [...states].flatMap(([key, stored]) => {
    const log = history.get(parseServiceKey(key))?.log;
    if (log?.isComplete !== true) return [`${key}: the log is not complete`];
    const mutations = log.messages.filter((message): message is PlannedMutations => message.kind === 'mutations');
    const changes = log.messages.filter(({ kind }) => kind !== 'mutations');
    const replayed = replayLog(stored.key, { changes, mutations }, defaultSettings);
    return stateDifferences(stored, replayed, { wasGone: false, isWorker: false }).map((one) => `${key}: ${one}`);
  });
}

/** Reasons of resyncs that messages or commits were lost for: reconcilers then drop plans, which no log says. */
async function losses(): Promise<readonly string[]> {
  const { bus } = infrastructure;
  const reader = bus.read('requests', 0, await bus.beginning('requests', 0));
  const end = await bus.end('requests', 0);
  const reasons: string[] = [];
  for (let offset = 0; offset < end.offset; ) {
    const records = await reader.next(100);
    offset = records.at(-1)?.offset ?? end.offset;
    for (const { payload } of records) {
      const message = decodeMessage(payload);
      if (message.kind === 'resync') reasons.push(message.reason);
    }
  }
  reader.close();
  return reasons.filter((reason) => reason !== 'no committed offset');
}

test('after processes were killed, the log of each Service on NATS gives the state in Redis', async () => {
  for (let n = 0; n < kills; n++) {
    const changing = change();
    await replace(roles[n % roles.length] ?? 'watcher');
    await changing;
  }
  await deletePod(fleet.user, 'web', 0);
  await deleteService(fleet.user, 'mail');
  await fleet.converged();
  let different: readonly string[] = [];
  const isStored = async () => {
    different = await differences();
    return different.length === 0;
  };
  // Records that led to no plan are committed later.
  await until('the log gives the state', isStored, () => different.join('\n'));
  expect(await losses()).toEqual([]);
  expect((await storedStates(infrastructure.store, partitions)).size).toBeGreaterThan(1);
});
