import { expect, test } from 'vitest';
import { RequestsInFlight } from './requests-in-flight.ts';

test('requests of two plans are noticed, unless one plan contains all of them', () => {
  const requests = new RequestsInFlight();
  const end = requests.begin('writer-1 web', ['27', '33']);
  requests.begin('writer-1 web', ['27']);
  requests.begin('writer-2 web', ['40']);
  expect(requests.areOfOnePlan('writer-1 web')).toBe(true);
  requests.begin('writer-1 web', ['33']);
  expect(requests.areOfOnePlan('writer-1 web')).toBe(false);
  expect(requests.areOfOnePlan('writer-2 web')).toBe(true);
  end();
  expect(requests.areOfOnePlan('writer-1 web')).toBe(false);
});

test('a request that has ended counts no more', () => {
  const requests = new RequestsInFlight();
  requests.begin('writer-1 web', ['27'])();
  requests.begin('writer-1 web', ['33']);
  expect(requests.areOfOnePlan('writer-1 web')).toBe(true);
});
