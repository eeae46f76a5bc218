import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { clientName } from './client-name.ts';

test('the clients are named as the ServiceAccounts whose permissions every API server grants (A1)', () => {
  const manifest = readFileSync(new URL('../../../infra/kubernetes/controller-accounts.yaml', import.meta.url), 'utf8');
  const accounts = manifest.matchAll(/^kind: ServiceAccount\nmetadata:\n {2}name: (.*)\n {2}namespace: kube-system$/gm);
  expect(Object.values(clientName)).toEqual([...accounts].map(([, name]) => name));
});
