import { asRecord, asString } from '@sluice/platform';
import { type ApiClient, invalidAnswerError } from '../index.ts';

export interface ServerVersion {
  /** E.g. `v1.36.3`. */
  readonly gitVersion: string;
  readonly major: number;
  readonly minor: number;
}

/** discovery.k8s.io/v1 exists since Kubernetes 1.21. */
export function isSupportedVersion({ major, minor }: ServerVersion): boolean {
  return major !== 1 || minor >= 21;
}

/** Minor versions of Kubernetes 1 that Sluice is tested with (docs/reference/compatibility.md). */
export const testedMinors: readonly number[] = [34, 35, 36, 37];

/** Whether Sluice is tested with this version; what to do if not. */
export function untestedAdvice({ major, minor }: ServerVersion): string | undefined {
  if (major === 1 && testedMinors.includes(minor)) return undefined;
  const tested = testedMinors.map((tested) => `1.${tested}`).join(', ');
  const newest = testedMinors.at(-1) ?? 0;
  const change = major > 1 || minor > newest ? 'use a Sluice release that lists it' : 'upgrade the cluster';
  return `Sluice is tested with Kubernetes ${tested}: ${change}, or compare first with "sluice run --shadow"`;
}

export async function getServerVersion(connection: ApiClient, signal: AbortSignal): Promise<ServerVersion> {
  const { body } = await connection.request({ method: 'GET', path: '/version', signal });
  const { gitVersion, major, minor } = asRecord(body);
  if (asString(gitVersion) === '') throw invalidAnswerError(connection.server, '/version has no gitVersion');
  if (!/^[\w.+~-]{1,128}$/.test(asString(gitVersion))) {
    throw invalidAnswerError(connection.server, 'gitVersion in /version is not a version');
  }
  // Some providers report `27+`.
  return {
    gitVersion: asString(gitVersion),
    major: Number.parseInt(asString(major), 10),
    minor: Number.parseInt(asString(minor), 10),
  };
}
