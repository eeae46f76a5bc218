import { expect, test } from 'vitest';
import { failed, listChecks, ok } from './check.ts';

test('text of an API server adds no lines and no escape codes', () => {
  const text = listChecks([
    failed('cluster a', 'version', 'refused\nok   cluster b   version   v1.36', 'upgrade\n  cluster b, all: fine'),
    ok('bus', 'connection', '\u001b[2J'),
  ]);
  expect(text.trimEnd().split('\n')).toEqual([
    'RESULT   ABOUT       CHECK        DETAIL',
    'failed   cluster a   version      refused ok   cluster b   version   v1.36',
    'ok       bus         connection   \\u001b[2J',
    '',
    'Recommendations:',
    '  cluster a, version: upgrade cluster b, all: fine',
  ]);
});

test('in 60 columns, checks and recommendations wrap', () => {
  const detail = 'kube-controller-manager still writes Endpoints and EndpointSlices of this cluster';
  const text = listChecks([failed('cluster production', 'competing controller', detail, `${detail}: stop it`)], 60);
  for (const line of text.split('\n')) expect(line.length, line).toBeLessThanOrEqual(60);
  expect(text).toContain('failed   cluster production, competing controller:\n         kube-controller-manager still');
  expect(text.replaceAll(/\s+/g, ' ')).toContain(`${detail}: stop it`);
});
