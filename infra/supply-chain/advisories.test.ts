import { expect, test } from 'vitest';
import { judgeAudit } from './advisories.ts';

test('an audit that fails for another reason than the registry has failed', () => {
  const stderr = 'Error: ERR_PNPM_AUDIT_NO_LOCKFILE\n';
  expect(judgeAudit({ stdout: '', stderr })).toEqual({ result: 'failed', reason: 'Error: ERR_PNPM_AUDIT_NO_LOCKFILE' });
  expect(judgeAudit({ stdout: '{}', stderr: '' })).toEqual({ result: 'failed', reason: '{}' });
});
