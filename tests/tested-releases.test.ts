import { isPassed, minorOf, readResults } from '@sluice/conformance';
import { testedMinors } from '@sluice/kubernetes/preflight';
import { expect, test } from 'vitest';

test('doctor accepts exactly the minor versions of Kubernetes for which every part of the compatibility run passed', () => {
  expect(testedMinors).toEqual(
    readResults()
      .filter(isPassed)
      .map(({ kubernetes }) => minorOf(kubernetes)),
  );
});
