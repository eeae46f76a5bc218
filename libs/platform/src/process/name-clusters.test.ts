import { expect, test } from 'vitest';
import type { LogFields, Logger } from '../index.ts';
import { nameClusters } from './name-clusters.ts';

function recorder(lines: LogFields[], bound: LogFields = {}): Logger {
  const write = (_: string, fields?: LogFields) => void lines.push({ ...bound, ...fields });
  return {
    ...{ debug: write, info: write, warn: write, error: write },
    with: (fields) => recorder(lines, { ...bound, ...fields }),
  };
}

test('log lines have the names of clusters, also of those known later; identities and other fields stay', () => {
  const lines: LogFields[] = [];
  const names = new Map([['uid-1', 'west']]);
  const logger = nameClusters(recorder(lines), names);
  logger.error('plan not applied', { key: 'uid-1/shop/cart', reason: 'uid-1 differs', identity: 'uid-1' });
  const bound = logger.with({ group: 'watcher/uid-1', partition: 3 });
  bound.info('leases acquired');
  bound.warn('gap in change log', { cluster: 'uid-2' });
  names.set('uid-2', 'east');
  bound.debug('gap in change log', { cluster: 'uid-2', service: 'uid-2/shop/cart' });
  expect(lines).toEqual([
    { key: 'west/shop/cart', reason: 'uid-1 differs', identity: 'uid-1' },
    { group: 'watcher/west', partition: 3 },
    { group: 'watcher/west', partition: 3, cluster: 'uid-2' },
    { group: 'watcher/west', partition: 3, cluster: 'east', service: 'east/shop/cart' },
  ]);
});
