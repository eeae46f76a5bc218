import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { inlineCode } from './command-lines.ts';
import { type Invocation, invocationsOf, scripts } from './invocations.ts';
import type { Finding, Page } from './markdown.ts';

const root = join(import.meta.dirname, '../..');
/** Benchmarks write to bench/results. */
const inRepository =
  /^(?!bench\/results\/)(?:bench|chaos|conformance|demo|docs|fake-apiserver|infra|libs|services|tests)\/[\w./-]+$/;

/**
 * Commands that call a script, file, kustomization, manifest, chart or profile that does not exist. The flags of Sluice and of
 * the development programs are checked by tests/documented-commands.test.ts.
 */
export function checkCommands(pages: readonly Page[]): Finding[] {
  return invocationsOf(pages).flatMap((invocation) =>
    faultsOf(invocation).map((message) => ({ path: invocation.path, line: invocation.line, message })),
  );
}

function faultsOf({ program, args }: Invocation): readonly string[] {
  const paths = [program, ...args].filter((word) => inRepository.test(word) && !existsSync(join(root, word)));
  return [...paths.map((path) => `${path} does not exist`), ...(ofTool[program]?.(args) ?? [])];
}

const ofTool: Readonly<Record<string, (args: readonly string[]) => readonly string[]>> = {
  // Known scripts are resolved to what they call.
  npm: ([verb = '', script]) =>
    verb === 'install'
      ? []
      : [`package.json has no script ${verb === 'run' ? script : verb}: ${Object.keys(scripts).join(', ')}`],
  kubectl: (args) => [
    ...valuesOf(args, '-k').flatMap((folder) =>
      existsSync(join(root, folder, 'kustomization.yaml')) ? [] : [`${folder} has no kustomization.yaml`],
    ),
    ...(args.includes('exec') && args.includes('--') && args.some((word) => word.includes('main.js'))
      ? ['the image of a release starts Sluice with another file']
      : []),
    ...(args.includes('port-forward') ? portFaults(args.at(-1)?.split(':').at(-1) ?? '') : []),
    ...args.flatMap((word) => {
      const [, name] = /^deployment\/(sluice-.*)$/.exec(word) ?? [];
      return name === undefined || deployments().has(name)
        ? []
        : [`neither infra/kubernetes nor infra/helm has a Deployment ${name}`];
    }),
  ],
  helm: (args) => [
    ...args
      .filter((word) => word.startsWith('infra/') && !existsSync(join(root, word, 'Chart.yaml')))
      .map((folder) => `${folder} is no chart`),
    ...valuesOf(args, '--set')
      .map((word) => word.split('=')[0] ?? '')
      .filter((path) => !isChartValue(path))
      .map((path) => `infra/helm/values.yaml has no ${path}`),
  ],
  docker: (args) =>
    valuesOf(args, '--profile')
      .filter((profile) => !compose().includes(`profiles: [${profile}]`))
      .map((profile) => `docker-compose.yml has no profile ${profile}`),
};

/** Both ways to install Sluice listen on the port. */
const portFaults = (port: string): readonly string[] =>
  [['infra/kubernetes/fleet.yaml'], ['infra/helm/templates/_names.tpl', 'infra/helm/templates/deployments.yaml']]
    .filter((files) => !files.some((file) => read(file).includes(`:${port}"`)))
    .map(([file]) => `nothing in ${file} listens on port ${port}`);

const valuesOf = (args: readonly string[], flag: string): readonly string[] =>
  args.flatMap((word, index) => (word === flag ? [args[index + 1] ?? ''] : []));

/** Values of the chart and settings, as inline code names them: `metrics.serviceMonitor.enabled`, `bus.maxAge`. */
export function checkValueNames(pages: readonly Page[]): Finding[] {
  return pages.flatMap(({ path, text }) =>
    inlineCode(text).flatMap(({ line, code }) => {
      const [name = ''] = code.split(/[:=] ?/);
      if (!namesOfValues.test(name) || isChartValue(name) || isSetting(name)) return [];
      return [{ path, line, message: `${name} is no setting (docs/reference/settings.md) and no value of the chart` }];
    }),
  );
}

const namesOfValues =
  /^(?:autoscaling|bus|cluster|clusterSecrets|components|console|controllers|leases|log|metrics|recording|store|traces|watcher|writer)(?:\.[a-zA-Z]+)+$/;

/** A prefix of settings is allowed: `bus.maxAge` stands for those of all topics. */
function isSetting(name: string): boolean {
  const table = read('docs/reference/settings.md');
  const plain = name.replace(/File$/, '');
  return table.includes(`| \`${plain}\``) || table.includes(`| \`${plain}.`);
}

const chartValues = (): unknown => load(read('infra/helm/values.yaml'));

function isChartValue(path: string): boolean {
  let value: unknown = chartValues();
  for (const part of path.split('.')) {
    if (typeof value !== 'object' || value === null || !(part in value)) return false;
    value = (value as Readonly<Record<string, unknown>>)[part];
  }
  return true;
}

const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const compose = (): string => read('docker-compose.yml');
const manifests = [
  'fleet.yaml',
  'components/workers/worker.yaml',
  'one-cluster/deployment.yaml',
  'infrastructure.yaml',
];
/** Those of a release of the chart are called by their component. */
const deployments = (): ReadonlySet<string> => {
  const { components } = chartValues() as { readonly components: object };
  const written = manifests.flatMap((file) =>
    [...read(`infra/kubernetes/${file}`).matchAll(/kind: Deployment\nmetadata:\n {2}name: (\S+)/g)].map(
      ([, name = '']) => name,
    ),
  );
  return new Set([...written, ...Object.keys(components).map((component) => `sluice-${component}`)]);
};
