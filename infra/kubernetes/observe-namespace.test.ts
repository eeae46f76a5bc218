import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { apiGroup, watchedResources } from '@sluice/kubernetes';
import { loadAll } from 'js-yaml';
import { expect, test } from 'vitest';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
  readonly roleRef?: object;
  readonly subjects?: readonly object[];
}

const text = readFileSync(join(import.meta.dirname, 'observe-namespace.yaml'), 'utf8');

/** As the comment in the file says. */
const manifestsIn = (namespace: string) =>
  loadAll(text.replaceAll('namespace: shop', `namespace: ${namespace}`)) as readonly Manifest[];

test('the Role allows exactly what is requested in a namespace: list and watch of everything but Nodes', () => {
  const rules = manifestsIn('shop').flatMap((manifest) => manifest.rules ?? []);
  const granted = rules.flatMap(({ apiGroups, resources, resourceNames = [''], verbs }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        resourceNames.flatMap((name) => verbs.map((verb) => `${verb} ${group}/${resource} ${name}`)),
      ),
    ),
  );
  const requested = watchedResources.filter((resource) => resource !== 'nodes');
  expect(granted.sort()).toEqual(
    requested
      .flatMap((resource) => ['list', 'watch'].map((verb) => `${verb} ${apiGroup(resource)}/${resource} `))
      .sort(),
  );
});

test('everything is in one namespace, which can be replaced, and the Role is bound to the ServiceAccount alone', () => {
  const manifests = manifestsIn('pay');
  expect(manifests.map(({ kind, metadata }) => [kind, metadata.namespace])).toEqual([
    ['ServiceAccount', 'pay'],
    ['Role', 'pay'],
    ['RoleBinding', 'pay'],
  ]);
  const name = 'sluice-observer';
  expect(manifests.map(({ metadata }) => metadata.name)).toEqual([name, name, name]);
  expect(manifests.at(-1)).toMatchObject({
    roleRef: { kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name, namespace: 'pay' }],
  });
  expect(manifests.at(-1)?.subjects).toHaveLength(1);
});
