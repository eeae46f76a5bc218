import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { controllers, descriptorOf } from '@sluice/controllers';
import { type Access, type ClusterWork, permissions } from '@sluice/kubernetes/preflight';
import type { Controller } from '@sluice/model';
import { load, loadAll } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { accountManifests, chartTable, rbacManifests } from './rbac.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface Role {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
}

interface ChartTable {
  readonly controllers: readonly string[];
  readonly watch: readonly ChartRow[];
  readonly write: readonly ChartRow[];
}

interface ChartRow {
  readonly controllers: readonly string[];
  readonly namespace: string;
  readonly rule: Rule;
}

/** One line per permission. */
const line = ({ verb, group, resource, subresource, namespace = '', name = '' }: Access): string =>
  `${verb} ${group}/${[resource, subresource].filter(Boolean).join('/')} ${namespace} ${name}`;

const linesOf = (namespace: string, { apiGroups, resources, resourceNames = [''], verbs }: Rule) =>
  apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      resourceNames.flatMap((name) => verbs.map((verb) => `${verb} ${group}/${resource} ${namespace} ${name}`)),
    ),
  );

const needed = (work: ClusterWork, some: readonly Controller[]) =>
  permissions(work, some)
    .map(({ access }) => line(access))
    .sort();

const subsets = Array.from({ length: 2 ** controllers.length - 1 }, (_, number) =>
  controllers.filter((_, index) => ((number + 1) >> index) % 2 === 1),
);
const table = load(chartTable()) as ChartTable;
const roleOf: Readonly<Record<ClusterWork, string>> = { watch: 'sluice-watcher', write: 'sluice-writer' };

describe.each(subsets.map((some) => [some.join(', '), some] as const))('for %s', (_, some) => {
  const manifests = loadAll(rbacManifests(some)) as readonly Role[];
  const flags = some.map((one) => descriptorOf(one).flags[0]);

  test.each(['watch', 'write'] as const)('manifests and chart grant exactly what Sluice checks: %s', (work) => {
    const granted = manifests
      .filter(({ kind, metadata }) => kind.endsWith('Role') && metadata.name === roleOf[work])
      .flatMap(({ rules = [], metadata }) => rules.flatMap((rule) => linesOf(metadata.namespace ?? '', rule)));
    expect(granted.sort()).toEqual(needed(work, some));
    const ofChart = table[work]
      .filter(({ controllers }) => controllers.some((flag) => flags.some((one) => one === flag)))
      .flatMap(({ namespace, rule }) => linesOf(namespace, rule));
    expect(ofChart.sort()).toEqual(needed(work, some));
  });
});

test.each([
  ['rbac.yaml', rbacManifests],
  ['controller-accounts.yaml', accountManifests],
  ['../helm/files/permissions.yaml', chartTable],
])('%s is up to date; otherwise: npm run rbac', (file, render) => {
  expect(readFileSync(join(import.meta.dirname, file), 'utf8')).toBe(render());
});
