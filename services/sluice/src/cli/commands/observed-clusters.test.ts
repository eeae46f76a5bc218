import type { ClusterConfiguration } from '@sluice/fleet/configuration';
import { loadConfiguration } from '@sluice/fleet/configuration/load';
import { describe, expect, test } from 'vitest';
import { namespacesFlag, withObservedClusters } from './observed-clusters.ts';

const configuration = loadConfiguration({ environment: {}, flags: {} });
const observed = (clusters: readonly ClusterConfiguration[], namespaces?: readonly string[]) =>
  withObservedClusters({ ...configuration, clusters }, namespaces).clusters;

test('namespaces are separated by commas or flags, each once', () => {
  expect(namespacesFlag('pay,shop', namespacesFlag('shop'))).toEqual(['shop', 'pay']);
  expect(() => namespacesFlag('shop,Pay')).toThrow('"Pay" is not the name of a namespace');
  expect(() => namespacesFlag('')).toThrow('"" is not the name of a namespace');
});

describe('observed are', () => {
  test('the cluster of kubectl, if none is selected, or only its namespaces', () => {
    expect(observed([])).toEqual([{}]);
    expect(observed([], ['shop'])).toEqual([{ namespaces: ['shop'] }]);
  });

  test('the selected clusters, or only these namespaces of each', () => {
    const clusters = [{ context: 'a', excludeNamespaces: ['dev'] }, { context: 'b' }];
    expect(observed(clusters)).toEqual(clusters);
    expect(observed(clusters, ['shop'])).toEqual([
      { context: 'a', namespaces: ['shop'] },
      { context: 'b', namespaces: ['shop'] },
    ]);
  });

  test('no namespaces of clusters from Secrets, which must not be observed as a whole instead', () => {
    const secrets = { ...configuration, clusterSecrets: { selector: 'a=b', namespace: 'sluice' } };
    expect(withObservedClusters(secrets, undefined).clusters).toEqual([]);
    expect(() => withObservedClusters(secrets, ['shop'])).toThrow('remove it, or --cluster-secrets');
  });
});
