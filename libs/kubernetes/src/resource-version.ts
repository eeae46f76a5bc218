import { compareResourceVersions } from '@sluice/controllers';

/** Whether `a` is an earlier version than `b`. What is not a number cannot be compared, and is never older. */
export function isOlderVersion(a: string, b: string): boolean {
  return isNumber(a) && isNumber(b) && compareResourceVersions(a, b) < 0;
}

const isNumber = (version: string): boolean => /^(0|[1-9]\d*)$/.test(version);
