import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { RealFleet } from './harness/real-fleet.ts';
import {
  createNamespace,
  createPod,
  createService,
  deletePod,
  deleteService,
  deleteSlice,
  setReady,
  slicesOf,
} from './harness/real-services.ts';

/**
 * etcd is restored from a backup under a running fleet, on real servers and as Kubernetes documents it: API server and etcd
 * are stopped, the data is replaced, both start. No operator touches Sluice. Prints how long it took.
 */
const pods = { web: 3, cart: 3, old: 2 };
/** What `etcdutl snapshot restore --bump-revision` adds must exceed all revisions since the backup. */
const bump = 2_000;
let fleet: RealFleet;
let backup: string;

beforeAll(async () => {
  fleet = await RealFleet.open();
  backup = join(fleet.plane.directory, 'backup');
  await createNamespace(fleet.user);
  for (const [service, count] of Object.entries(pods)) {
    await createService(fleet.user, service);
    for (let n = 0; n < count; n++) await createPod(fleet.user, service, n);
  }
  for (const role of ['watcher', 'reconciler', 'writer'] as const) fleet.start(role, role);
  await fleet.converged();
});

afterAll(() => fleet?.stop());

const data = () => join(fleet.plane.directory, 'etcd');
const signal = (name: string, kind: NodeJS.Signals) => fleet.process(name).child.kill(kind);

/** Copies etcd's data at a moment when Pod web-0 has become unready and its slice does not say so yet. */
async function takeBackup(): Promise<void> {
  await setReady(fleet.user, 'web', 0, true);
  await fleet.converged();
  signal('writer', 'SIGSTOP');
  await setReady(fleet.user, 'web', 0, false);
  const { etcd } = fleet.plane.processes;
  await etcd.freeze();
  rmSync(backup, { recursive: true, force: true });
  cpSync(data(), backup, { recursive: true });
  etcd.signal('SIGCONT');
  signal('writer', 'SIGCONT');
}

/** Hundreds of writes; a Service is deleted, one is created, and a slice is deleted by hand and created again. */
async function moveOn(late: string): Promise<void> {
  const { user } = fleet;
  for (let i = 0; i < 150; i++) await setReady(user, 'web', i % 3, i % 2 === 0);
  for (const name of await slicesOf(user, 'cart')) await deleteSlice(user, name);
  await deletePod(user, 'cart', 2);
  await deleteService(user, 'old');
  await createService(user, late);
  await createPod(user, late, 0);
  await fleet.converged();
}

async function restore(bumpBy: number): Promise<void> {
  const { etcd, kubeApiserver } = fleet.plane.processes;
  await kubeApiserver.kill();
  await etcd.kill();
  rmSync(data(), { recursive: true });
  cpSync(backup, data(), { recursive: true });
  await etcd.start();
  const url = etcd.command.args.find((arg) => arg.startsWith('--listen-client-urls='))?.split('=')[1];
  await etcd.ready(() => post(`${url}/v3/maintenance/status`, {}).then(Boolean, () => false), 60_000);
  if (bumpBy > 0) await bumpRevision(`${url}`, bumpBy);
  await kubeApiserver.start();
  await fleet.plane.ready();
}

/** What `etcdutl snapshot restore --bump-revision --mark-compacted` does to a snapshot. */
async function bumpRevision(url: string, by: number): Promise<void> {
  const key = Buffer.from('bump').toString('base64');
  let revision = 0;
  for (let i = 0; i < by; i += 50) {
    const puts = Array.from({ length: 50 }, () => post(`${url}/v3/kv/put`, { key }));
    const revisions = (await Promise.all(puts)).map(({ header }) => Number(header.revision));
    revision = Math.max(...revisions);
  }
  await post(`${url}/v3/kv/compaction`, { revision });
}

/** A request to etcd's JSON gateway. */
async function post(url: string, body: object): Promise<{ readonly header: { readonly revision: string } }> {
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return (await response.json()) as { readonly header: { readonly revision: string } };
}

/** Deleted Services, Pods and slices exist again with their UIDs, and everything has an older version than before. */
async function changeAfterwards(late: string): Promise<void> {
  const { user } = fleet;
  await setReady(user, 'cart', 1, false);
  await setReady(user, 'old', 0, false);
  await createService(user, late);
  await createPod(user, late, 1);
  await deletePod(user, 'web', 2);
}

async function undo(late: string): Promise<void> {
  const { user } = fleet;
  for (const service of ['cart', 'old']) for (const n of [0, 1]) await setReady(user, service, n, true);
  await createPod(user, 'web', 2);
  await deleteService(user, late);
  await deletePod(user, late, 1);
}

test.each([
  ['resourceVersions go back', 0, true],
  ['resourceVersions are bumped, as etcdutl does', bump, true],
  ['resourceVersions go back while no watcher runs', 0, false],
])('a fleet serves a cluster whose etcd was restored, without help: %s', async (_, bumpBy, isWatched) => {
  const late = `late-${bumpBy}-${isWatched}`;
  const proofs = () => fleet.messages('resourceVersions decreased; the cluster was restored from a backup').length;
  const before = proofs();
  await takeBackup();
  await moveOn(late);
  if (!isWatched) {
    signal('watcher', 'SIGKILL');
    await fleet.process('watcher').exited;
  }
  await restore(bumpBy);
  await changeAfterwards(late);
  if (!isWatched) fleet.start('watcher', 'watcher');
  await fleet.converged();
  await undo(late);
  await fleet.converged();
  // The cluster may be right before the watcher reads of the proof. Bumped versions are newer than all before and need none: whether
  // a generation proves the restore depends on how many writes precede the next list.
  if (bumpBy === 0) await expect.poll(proofs).toBeGreaterThan(before);
});
