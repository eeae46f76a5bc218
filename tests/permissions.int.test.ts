import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection, loadKubeconfig } from '@sluice/kubernetes';
import { neededAccess, permissions, reviewAccess } from '@sluice/kubernetes/preflight';
import { type ControlPlane, kubectl, startControlPlane } from '@sluice/local';
import { silentLogger } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { afterAll, beforeAll, expect, test } from 'vitest';

/** The permission check of the startup on a real API server. */
let directory: string;
let controlPlane: ControlPlane;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-permissions-'));
  controlPlane = await startControlPlane({ directory, name: 'local', authorization: 'RBAC', audit: 'Metadata' });
});

afterAll(async () => {
  await controlPlane?.stop();
  rmSync(directory, { recursive: true, force: true });
});

const work = ['watch', 'write'] as const;
const needed = neededAccess(work);
/** Such as the Leases through which a fleet claims the cluster. */
const useful = permissions('write').flatMap(({ access, without }) => (without === undefined ? [] : [access]));

/** The allowed accesses, and the number of requests by kind of review. */
async function review(userAgent: string, accesses = needed) {
  const access = await loadKubeconfig({ paths: [controlPlane.kubeconfigs.sluice] });
  const connection = new Connection({ access, userAgent, clock: systemClock, logger: silentLogger });
  try {
    const answers = await reviewAccess(connection, accesses, new AbortController().signal);
    return { allowed: accesses.filter((_, index) => answers[index]), asked: () => reviewsBy(userAgent) };
  } finally {
    await connection.destroy();
  }
}

function reviewsBy(userAgent: string): Record<string, number> {
  const lines = readFileSync(controlPlane.auditLog ?? '', 'utf8')
    .trim()
    .split('\n');
  const counts: Record<string, number> = {};
  for (const event of lines.map((line) => JSON.parse(line))) {
    if (event.userAgent !== userAgent || event.stage !== 'ResponseComplete') continue;
    counts[event.objectRef.resource] = (counts[event.objectRef.resource] ?? 0) + 1;
  }
  return counts;
}

test('one request suffices with the permissions of rbac.yaml', async () => {
  const { allowed, asked } = await review('sluice/granted');
  expect(allowed).toEqual(needed);
  // The audit log is written after the response.
  await expect.poll(asked).toEqual({ selfsubjectrulesreviews: 1 });
});

test('rbac.yaml grants what claims, Events and the search for competing controllers need as well', async () => {
  expect(useful).toContainEqual(expect.objectContaining({ verb: 'update', resource: 'leases', name: 'sluice' }));
  const { allowed } = await review('sluice/useful', useful);
  expect(allowed).toEqual(useful);
});

test('permissions in every existing namespace do not count as cluster-wide', async () => {
  const admin = controlPlane.kubeconfigs.admin;
  await kubectl(admin, ['delete', 'clusterrolebinding', 'sluice-watcher', 'sluice-writer']);
  const namespaces = (await kubectl(admin, ['get', 'namespaces', '--output=name'])).trim().split('\n');
  for (const namespace of namespaces.map((name) => name.replace('namespace/', ''))) {
    const all = ['--clusterrole=cluster-admin', '--serviceaccount=sluice:sluice'];
    await kubectl(admin, ['create', 'rolebinding', 'here-alone', `--namespace=${namespace}`, ...all]);
  }
  // RBAC changes take effect with a delay.
  await expect.poll(async () => (await review('sluice/in-namespaces')).allowed).toEqual([]);
});
