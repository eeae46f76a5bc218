import { compareResourceVersions } from '@sluice/model';

/** Whether `a` is older than `b`. Versions that are not numbers are incomparable, so never older. */
export function isOlderVersion(a: string, b: string): boolean {
  return isNumber(a) && isNumber(b) && compareResourceVersions(a, b) < 0;
}

const isNumber = (version: string): boolean => /^(0|[1-9]\d*)$/.test(version);
