import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiClient } from '@sluice/conformance';
import { Connection, HttpCluster, loadKubeconfig } from '@sluice/kubernetes';
import { type ControlPlane, startControlPlane } from '@sluice/local';
import { silentLogger } from '@sluice/platform';
import { systemClock, systemRandom } from '@sluice/platform/process';
import { AuditTail } from './audit-tail.ts';

/** Sluice's user name in the API server. */
const sluiceUser = 'system:serviceaccount:sluice:sluice';

/** A cluster of the fleet with clients for its user. */
export interface Cluster {
  readonly name: string;
  /** The UID of its namespace kube-system, by which messages name it. */
  readonly identity: string;
  readonly plane: ControlPlane;
  readonly user: ApiClient;
  readonly reader: HttpCluster;
  /** Sluice's own writes. */
  readonly audit: AuditTail;
  stop(): Promise<void>;
}

/** Starts a real control plane that logs every write of Endpoints and EndpointSlices before it responds. */
export async function startCluster(directory: string, name: string): Promise<Cluster> {
  mkdirSync(directory, { recursive: true });
  const policy = join(directory, 'audit-policy.yaml');
  writeFileSync(policy, JSON.stringify(auditPolicy));
  const plane = await startControlPlane({
    name,
    directory: join(directory, 'cluster'),
    authorization: 'RBAC',
    audit: 'RequestResponse',
    apiServerArgs: [
      `--audit-policy-file=${policy}`,
      // Batched events are late and may be dropped.
      '--audit-log-mode=blocking',
      '--audit-log-maxsize=100000',
    ],
  });
  try {
    const user = await ApiClient.open(plane.adminKubeconfig);
    const access = await loadKubeconfig({ paths: [plane.adminKubeconfig] });
    const ports = { clock: systemClock, logger: silentLogger };
    const connection = new Connection({ access, userAgent: 'sluice-chaos', ...ports });
    const reader = new HttpCluster({ connection, clock: systemClock, random: systemRandom });
    const identity = await reader.identity(AbortSignal.timeout(10_000));
    const audit = await AuditTail.open(plane.auditLog ?? '', sluiceUser);
    return {
      name,
      identity,
      plane,
      user,
      reader,
      audit,
      async stop() {
        await audit.close();
        await user.close();
        await connection.close();
        await plane.stop();
      },
    };
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [
    {
      level: 'RequestResponse',
      verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'],
      resources: [
        { group: '', resources: ['endpoints'] },
        { group: 'discovery.k8s.io', resources: ['endpointslices'] },
      ],
    },
    { level: 'None' },
  ],
};
