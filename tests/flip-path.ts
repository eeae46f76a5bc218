/**
 * Usage: `npm run flip-path [-- --functions]`. Prints the files of libs and services, and the functions in them, that run
 * while one Pod of a Service becomes ready: from the watch event to the applied write and its Outcome.
 */
import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import { FakeApiServer } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { startFleet } from './harness/fleet.ts';
import { nodeObject, podObject } from './harness/objects.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const startedAt = '2026-01-01T00:00:00Z';

const clock = new VirtualClock(Date.parse(startedAt));
const server = new FakeApiServer({ clock, random: seededRandom(1), bookmarkIntervalMs: 0 });
server.create('namespaces', { metadata: { name: 'shop' } });
server.create('nodes', nodeObject('node-1', 'zone-a'));
server.create('services', {
  metadata: { name: 'cart', namespace: 'shop' },
  spec: { selector: { app: 'cart' }, clusterIP: '10.96.0.9', ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
});
const flip = (ready: boolean) =>
  server.put(
    'pods',
    podObject({
      name: 'cart-1',
      labels: { app: 'cart' },
      ips: ['10.0.0.7'],
      node: 'node-1',
      ready,
      since: startedAt,
      httpPort: 8080,
    }),
  );
flip(false);
const fleet = startFleet({ clock, server, seed: 2, byReference: true });
await advance(clock, 60_000);

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true });
await session.post('Profiler.takePreciseCoverage');
flip(true);
await advance(clock, 2_000);
const { result } = await session.post('Profiler.takePreciseCoverage');
await fleet.stop();

const files = new Map<string, readonly string[]>();
for (const { url, functions } of result) {
  const path = url.startsWith('file:') ? fileURLToPath(url).replace(root, '') : '';
  if (!/^(libs|services)\//.test(path) || path.includes('/testing/')) continue;
  // The first function of a module is its top level.
  const called = functions.filter(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0);
  if (called.length > 0)
    files.set(
      path,
      called.map(({ functionName }) => functionName),
    );
}
const paths = [...files.keys()].sort();
for (const path of paths) {
  const called = files.get(path) ?? [];
  console.log(process.argv.includes('--functions') ? `${path}: ${called.join(', ')}` : path);
}
console.log(`${[...files.values()].flat().length} functions in ${paths.length} files`);
