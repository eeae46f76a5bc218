import { expect, test } from 'vitest';
import { clusterLabel } from './cluster-label.ts';

test('clusters are labelled with their names, also those added later; unknown ones with their identity', () => {
  const names = new Map([['uid-1', 'staging']]);
  const label = clusterLabel(names, true);
  names.set('uid-2', 'production');
  expect(['uid-1', 'uid-2', 'uid-3'].map((identity) => label.labels(identity))).toEqual([
    { cluster: 'staging' },
    { cluster: 'production' },
    { cluster: 'uid-3' },
  ]);
});

test('a single cluster has no label, as in kube-controller-manager', () => {
  const label = clusterLabel(new Map([['uid-1', 'staging']]), false);
  expect([label.names, label.labels('uid-1')]).toEqual([[], {}]);
});
