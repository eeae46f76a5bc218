import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { checkNames, countTexts } from './check-names.ts';
import { readPages } from './markdown.ts';

const found = (text: string) => checkNames([{ path: 'a.md', text }]).map(({ line, message }) => `${line}: ${message}`);

describe('a page that names', () => {
  it.each([
    ['`sluice_partition_lag`', 'there is no metric sluice_partition_lag'],
    ['rate(workqueue_depths[5m])', 'there is no metric workqueue_depths'],
    ['alert SluiceTooSlow', 'there is no alert SluiceTooSlow'],
    ['measured on v1.35.2', 'there is no tested Kubernetes release v1.35.2'],
    ['`SLUICE_BUS_SERVER=x`', 'there is no variable SLUICE_BUS_SERVER'],
    ['`leases were lost`', 'no log line, message or label of Sluice contains "leases were lost"'],
    [
      '`no reply from Redis within …`',
      'no log line, message or label of Sluice contains "no reply from Redis within "',
    ],
  ])('%s', (text, message) => {
    expect(found(`# T\n\n${text}`)).toEqual([`3: ${message}`]);
  });

  it('a log line that the code does not have', () => {
    expect(found('```log\nleases lost\nleases gone\n```')).toEqual([
      '3: no log line, message or label of Sluice contains "leases gone"',
    ]);
  });

  it('what exists', () => {
    const text =
      '`sluice_trigger_to_applied_seconds_bucket`, `workqueue_depth`, `SluiceRoleDown`, `SLUICE_BUS_PASSWORD_FILE`, `leases lost`, `no answer from Redis within …`, `parked retry`, `kubectl get pods`, `mode: allInOne`';
    expect(found(text)).toEqual([]);
  });
});

test('the pages quote more than eighty texts of Sluice', () => {
  expect(countTexts(readPages(join(import.meta.dirname, '../..')))).toBeGreaterThan(80);
});
