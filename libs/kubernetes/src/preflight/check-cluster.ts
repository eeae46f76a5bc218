import { randomBytes } from 'node:crypto';
import type { Controller } from '@sluice/model';
import type { Clock, Logger, Random } from '@sluice/platform';
import { fieldManager, userAgent } from '@sluice/platform/process';
import { type ClusterAccess, Connection, dateOf, HttpCluster, isApiError } from '../index.ts';
import { type Check, failed, note, ok, warning } from './check.ts';
import { checkPermissions, permissionsOf } from './check-permissions.ts';
import {
  assessCompetingController,
  type CompetingControllerEvidence,
  otherFieldManagers,
  switchOffAdvice,
} from './competing-controller.ts';
import { findCompetingControllerEvidence } from './competing-controller-evidence.ts';
import type { Access } from './permissions.ts';
import { clusterProbe, probeControllers } from './probe-controllers.ts';
import { isSupportedVersion, type ServerVersion, untestedAdvice } from './server-version.ts';

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Maximum clock difference before a warning, in milliseconds. The Date header has a resolution of one second. */
const skewMs = 5_000;

interface Options {
  readonly probe?: boolean;
  /** The controllers that run. Default: all. */
  readonly controllers?: ReadonlySet<Controller>;
}

/** Checks one cluster with reads and access reviews, and a probe if asked to. Problems of the cluster become checks, not errors. */
export async function checkCluster(
  name: string,
  access: ClusterAccess,
  ports: Ports,
  options: Options = {},
): Promise<readonly Check[]> {
  const connection = new Connection({ access, userAgent: userAgent('doctor'), timeoutMs: 10_000, ...ports });
  try {
    return (await checkOn(connection, name, ports, options)).checks;
  } finally {
    await connection.destroy();
  }
}

interface CheckedCluster {
  readonly checks: readonly Check[];
  /** Absent if it could not be read. */
  readonly evidence?: CompetingControllerEvidence;
}

/** Like `checkCluster`, on an open connection, with the evidence of other controllers. */
export async function checkOn(
  connection: Connection,
  name: string,
  ports: Ports,
  { probe: probes = false, controllers }: Options = {},
): Promise<CheckedCluster> {
  const about = `cluster ${name}`;
  const probe = clusterProbe(new HttpCluster({ connection, ...ports }));
  const { signal } = new AbortController();
  const checks: Check[] = [];
  let evidence: CompetingControllerEvidence | undefined;
  const attempt = async (check: string, advice: string, run: () => Promise<readonly Check[]>): Promise<boolean> => {
    try {
      checks.push(...(await run()));
      return true;
    } catch (error) {
      if (!isApiError(error)) throw error;
      checks.push(failed(about, check, error.message, advice));
      return false;
    }
  };
  const reached = await attempt('version', 'check server and credentials in the kubeconfig', async () => {
    return [versionCheck(about, await probe.serverVersion(signal))];
  });
  if (!reached) return { checks };
  await attempt('discovery.k8s.io/v1', 'upgrade the cluster to Kubernetes 1.21 or later', async () => {
    const startedAt = ports.clock.now();
    const answer = await connection.request({ method: 'GET', path: '/apis/discovery.k8s.io/v1', signal });
    const skew = clockSkew(about, dateOf(answer), startedAt, ports.clock.now());
    return [ok(about, 'discovery.k8s.io/v1', 'served'), ...skew];
  });
  for (const work of ['watch', 'write'] as const) {
    await attempt(
      permissionsOf(work),
      'grant SelfSubjectAccessReviews and SelfSubjectRulesReviews (system:basic-user)',
      () => {
        const review = (accesses: readonly Access[]) => probe.reviewAccess(accesses, signal);
        return checkPermissions(about, work, review, async () => probe.userName?.(signal), controllers);
      },
    );
  }
  await attempt('other controllers', 'grant list on EndpointSlices', async () => {
    const search = { connection, ownManager: fieldManager, now: ports.clock.now(), controllers };
    evidence = await findCompetingControllerEvidence(search, signal);
    return otherManagersCheck(about, otherFieldManagers(evidence));
  });
  let probed: Probed | undefined;
  if (probes) {
    await attempt('probe', 'grant create and delete on Services in the namespace default', async () => {
      const service = `sluice-probe-${randomBytes(4).toString('hex')}`;
      const settings = { connection, ownManager: fieldManager, namespace: 'default', name: service };
      probed = { writer: await probeControllers({ ...settings, clock: ports.clock }, signal) };
      return [];
    });
  }
  // After the probe, because only one answer can be right.
  if (evidence !== undefined) checks.push(competingControllerCheck(about, evidence, probed));
  return { checks, ...(evidence !== undefined && { evidence }) };
}

export function versionCheck(about: string, version: ServerVersion): Check {
  const check = 'version';
  const { gitVersion } = version;
  if (!isSupportedVersion(version))
    return failed(about, check, gitVersion, 'upgrade the cluster to Kubernetes 1.21 or later');
  const advice = untestedAdvice(version);
  return advice === undefined ? ok(about, check, gitVersion) : warning(about, check, gitVersion, advice);
}

/** What happened to the throw-away Service. */
interface Probed {
  /** Who wrote endpoints of it, and which object; undefined: nobody. */
  readonly writer: string | undefined;
}

export function competingControllerCheck(about: string, evidence: CompetingControllerEvidence, probed?: Probed): Check {
  const check = 'other controllers';
  const { status, why } = assessCompetingController(evidence);
  const switchOff = switchOffAdvice(evidence);
  if (probed?.writer !== undefined) return failed(about, check, `${probed.writer}, for the probe`, switchOff);
  const isEnabled = evidence.pods.some(({ enabled }) => enabled);
  if (status === 'active' && (probed === undefined || isEnabled)) {
    return failed(about, check, why, `${switchOff}; until then Sluice writes only with --take-over`);
  }
  if (status !== 'inactive' && probed !== undefined) {
    const advice = 'start Sluice with --take-over: nobody wrote endpoints of the probe, so these controllers are off';
    return note(about, check, why, advice);
  }
  if (status === 'unknown') {
    const settle = 'run "sluice doctor --probe" to find out; until it is settled Sluice writes only with --take-over';
    return warning(about, check, why, `${settle}. If these controllers are enabled, ${switchOff}`);
  }
  return ok(about, check, probed === undefined ? why : `${why}; nobody wrote endpoints of the probe`);
}

/** A single write may be manual; Sluice slows its writes down if another manager keeps writing. */
function otherManagersCheck(about: string, writers: readonly string[]): readonly Check[] {
  const [first] = writers;
  if (first === undefined) return [];
  const more = writers.length === 1 ? '' : `, and ${writers.length - 1} more objects in the last 5 minutes`;
  const advice = 'if that goes on, see docs/operations/runbooks/competing-controller.md';
  return [warning(about, 'other writers', `${first}${more}`, advice)];
}

/** Compares with the middle of the request, because the server read its clock at an unknown time within it. */
function clockSkew(about: string, server: number | undefined, from: number, to: number): readonly Check[] {
  if (server === undefined) return [];
  const ms = Math.abs(server + 500 - (from + to) / 2);
  const detail = `${(ms / 1000).toFixed(1)} s between this machine and the API server`;
  if (ms <= skewMs + (to - from)) return [ok(about, 'clock', detail)];
  return [
    warning(
      about,
      'clock',
      detail,
      'synchronize both clocks with NTP: times in logs, metrics and annotations are wrong',
    ),
  ];
}
