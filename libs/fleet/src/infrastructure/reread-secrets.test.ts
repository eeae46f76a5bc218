import { silentLogger } from '@sluice/platform';
import { expect, test } from 'vitest';
import type { Configuration } from '../configuration/index.ts';
import { rereadSecrets } from './reread-secrets.ts';

const redis = (password: string) => ({ kind: 'redis' as const, urls: ['redis://r'], password });
const withStore = (store: Configuration['store']) => ({ store, bus: { kind: 'memory' as const } });

test('a rotated secret is returned; while the configuration is invalid, the last valid one', () => {
  let current: () => ReturnType<typeof withStore> = () => withStore(redis('first'));
  const secrets = rereadSecrets('store', redis('initial'), { logger: silentLogger, reread: () => current() });
  expect(secrets?.()).toMatchObject({ password: 'first' });
  current = () => {
    throw new Error('no such file');
  };
  expect(secrets?.()).toMatchObject({ password: 'first' });
  current = () => withStore({ kind: 'memory' });
  expect(secrets?.()).toMatchObject({ password: 'first' });
  current = () => withStore(redis('second'));
  expect(secrets?.()).toMatchObject({ password: 'second' });
});
