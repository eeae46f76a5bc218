import { expect, test } from 'vitest';
import { FaultPlan } from './fault-plan.ts';

test('a fault that is added while it is active begins again, and strikes each request once', () => {
  const faults = new FaultPlan();
  const slow = { latencyMs: 10, times: 2 };
  const request = { verb: 'get', resource: 'pods', name: 'p' } as const;
  faults.add(slow);
  faults.take(request);
  faults.add(slow);
  expect([1, 2, 3].map(() => faults.take(request).latencyMs)).toEqual([10, 10, 0]);
});
