import { expect, test } from 'vitest';
import { checkCommands, checkValueNames } from './check-commands.ts';
import { calledBy } from './invocations.ts';

const found = (text: string) =>
  checkCommands([{ path: 'a.md', text }]).map(({ line, message }) => `${line}: ${message}`);

test.each([
  ['`npm run benchmark`', 'package.json has no script benchmark: '],
  ['`npm tests`', 'package.json has no script tests: '],
  ['`node conformance/play.ts --max 3`', 'conformance/play.ts does not exist'],
  ['    infra/local/clusters start', 'infra/local/clusters does not exist'],
  ['`kubectl apply -k infra/kubernetes/components`', 'infra/kubernetes/components has no kustomization.yaml'],
  ['`kubectl apply -f infra/kubernetes/roles.yaml`', 'infra/kubernetes/roles.yaml does not exist'],
  [
    '`kubectl -n sluice logs deployment/sluice-reader`',
    'neither infra/kubernetes nor infra/helm has a Deployment sluice-reader',
  ],
  [
    '`kubectl port-forward deployment/sluice-console 10270:10290`',
    'nothing in infra/kubernetes/fleet.yaml listens on port 10290',
  ],
  ['`kubectl exec deployment/x -- node dist/main.js parked`', 'the image of a release starts Sluice with another file'],
  ['`helm install sluice infra/kubernetes`', 'infra/kubernetes is no chart'],
  ['`helm install sluice infra/helm --set rbac.make=true`', 'infra/helm/values.yaml has no rbac.make'],
  ['`docker compose --profile rabbit up`', 'docker-compose.yml has no profile rabbit'],
])('%s is reported', (text, message) => {
  expect(found(`# Page\n\n${text}\n`)[0]).toContain(`3: ${message}`);
});

test('commands that name what exists are not', () => {
  const text = `
    npm test -- libs/bus
    npm run bench -- --help
    npm run bench -- --json bench/results/other.json
    kubectl apply -k infra/overlays/workers && kubectl -n sluice get deployment/sluice-worker
    helm install sluice infra/helm --set mode=workers,x --set metrics.dashboard.enabled=true
    kubectl -n sluice port-forward deployment/sluice-observe 10270:10280
    kubectl -n sluice port-forward deployment/sluice-worker 10270
    docker compose --profile kafka up
`;
  expect(found(text)).toEqual([]);
});

test('npm, kubectl and node call what they start', () => {
  const called = (line: string) => calledBy(line.split(' '));
  expect(called('npm start -- --distributed')).toEqual({ program: 'sluice', args: ['run', '--distributed'] });
  expect(called('npm run chaos -- --help')).toEqual({ program: 'chaos/run.ts', args: ['--help'] });
  expect(called('kubectl sluice explain a/b')).toEqual({ program: 'sluice', args: ['explain', 'a/b'] });
  expect(called('node --cpu-prof bench/bus.ts --rounds 3')).toEqual({
    program: 'bench/bus.ts',
    args: ['--rounds', '3'],
  });
  expect(called('kubectl exec deployment/x -- node lib/program/main.js parked list')).toEqual({
    program: 'sluice',
    args: ['parked', 'list'],
  });
  expect(called('sluice')).toBeUndefined();
});

test('names of settings and of values of the chart exist', () => {
  const text =
    '`bus.maxAge`, `bus.passwordFile`, `console.retention`, `autoscaling.enabled: true`, `bus.maxAges`, `log.colour`';
  expect(checkValueNames([{ path: 'a.md', text }]).map(({ message }) => message.split(' ')[0])).toEqual([
    'bus.maxAges',
    'log.colour',
  ]);
});
