import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { ensureBinaries } from './binaries.ts';
import { type Credentials, type Identity, makeCredentials, writeKubeconfigs } from './credentials.ts';
import { onFreePorts } from './free-ports.ts';
import { kubectl, RBAC_FILE } from './kubectl.ts';
import { ServerProcess } from './server-process.ts';

/** The etcd and kube-apiserver to start. */
export interface ControlPlaneOptions {
  /** For data, certificates, kubeconfigs and logs. Existing content is removed. */
  readonly directory: string;
  /** Cluster name in the kubeconfigs. */
  readonly name: string;
  /** RBAC also enables the admission plugin OwnerReferencesPermissionEnforcement. */
  readonly authorization: 'RBAC' | 'AlwaysAllow';
  /** Whether to apply rbac.yaml under RBAC. Default true. */
  readonly grantSluice?: boolean;
  /** Additional kube-apiserver flags. A repeated flag overrides the default. */
  readonly apiServerArgs?: readonly string[];
  /** Logs each request at this audit level to `auditLog`, one JSON object per line. */
  readonly audit?: 'Metadata' | 'Request' | 'RequestResponse';
  /** Whether etcd calls fsync, as in production. Default false, which is faster. */
  readonly fsync?: boolean;
  /** For each server. Default 180 000. */
  readonly readyTimeoutMilliseconds?: number;
}

/** A running control plane on loopback, without kubelet, scheduler and controllers. It stops with this process. */
export interface ControlPlane {
  readonly name: string;
  readonly directory: string;
  readonly url: string;
  readonly adminKubeconfig: string;
  readonly kubeconfigs: Readonly<Record<Identity, string>>;
  readonly auditLog: string | undefined;
  /** Each can be frozen, killed, restarted with the same ports and data, and released to outlive this process. */
  readonly processes: { readonly etcd: ServerProcess; readonly kubeApiserver: ServerProcess };
  /** Waits until the API server is ready, for example after `processes.kubeApiserver.start()`. */
  ready(): Promise<void>;
  /** Stops both servers and waits until they have exited. Keeps the directory with the logs. */
  stop(): Promise<void>;
}

/**
 * Starts etcd and kube-apiserver, building them first if necessary, and waits until the API server is ready (2–4 s).
 *
 * @throws LocalError and leaves nothing running
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { directory } = options;
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const credentials = await makeCredentials(directory);
  return onFreePorts(3, (ports) => startOn(ports, credentials, options));
}

async function startOn(
  ports: readonly number[],
  credentials: Credentials,
  options: ControlPlaneOptions,
): Promise<ControlPlane> {
  const { directory, name, authorization } = options;
  const [clientPort, peerPort, securePort] = ports;
  const url = `https://127.0.0.1:${securePort}`;
  const etcdUrl = `http://127.0.0.1:${clientPort}`;
  const binaries = await ensureBinaries();
  const timeout = options.readyTimeoutMilliseconds;
  const auditLog = options.audit === undefined ? undefined : join(directory, 'audit.log');

  const etcd = new ServerProcess({
    name: 'etcd',
    program: binaries.etcd,
    args: etcdArgs(directory, etcdUrl, `http://127.0.0.1:${peerPort}`, options.fsync ?? false),
    log: join(directory, 'etcd.log'),
  });
  const kubeApiserver = new ServerProcess({
    name: 'kube-apiserver',
    program: binaries.kubeApiserver,
    args: [
      ...apiServerArgs(etcdUrl, securePort ?? 0, authorization, credentials),
      ...(auditLog === undefined ? [] : auditArgs(directory, auditLog, options.audit ?? 'Metadata')),
      ...(options.apiServerArgs ?? []),
    ],
    log: join(directory, 'kube-apiserver.log'),
  });
  const isReady = () => readyz(url, credentials);
  const stop = async () => {
    // A graceful shutdown waits long for open watches, which is of no use here.
    await kubeApiserver.stop(2000);
    await etcd.stop();
  };
  try {
    await etcd.start();
    await etcd.ready(() => healthy(`${etcdUrl}/health`), timeout);
    await kubeApiserver.start();
    await kubeApiserver.ready(isReady, timeout);
    const kubeconfigs = writeKubeconfigs(directory, name, url, credentials);
    if (authorization === 'RBAC' && options.grantSluice !== false) {
      await kubectl(kubeconfigs.admin, ['apply', '-f', RBAC_FILE]);
    }
    return {
      name,
      directory,
      url,
      adminKubeconfig: kubeconfigs.admin,
      kubeconfigs,
      auditLog,
      processes: { etcd, kubeApiserver },
      ready: () => kubeApiserver.ready(isReady, timeout),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function etcdArgs(directory: string, client: string, peer: string, fsync: boolean): readonly string[] {
  return [
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--quota-backend-bytes=4294967296',
    '--log-level=warn',
    ...(fsync ? [] : ['--unsafe-no-fsync']),
  ];
}

function apiServerArgs(
  etcdUrl: string,
  port: number,
  authorization: 'RBAC' | 'AlwaysAllow',
  credentials: Credentials,
): readonly string[] {
  return [
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    // Only the controllers under test write Endpoints.
    '--endpoint-reconciler-type=none',
    `--secure-port=${port}`,
    `--etcd-servers=${etcdUrl}`,
    '--service-cluster-ip-range=10.96.0.0/12,fd00:10:96::/112',
    `--authorization-mode=${authorization}`,
    `--token-auth-file=${credentials.tokenFile}`,
    `--tls-cert-file=${credentials.servingCertificate}`,
    `--tls-private-key-file=${credentials.servingKey}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${credentials.serviceAccountKey}`,
    `--service-account-signing-key-file=${credentials.serviceAccountKey}`,
    // Pods need no ServiceAccount because nothing runs them.
    '--disable-admission-plugins=ServiceAccount',
    ...(authorization === 'RBAC' ? ['--enable-admission-plugins=OwnerReferencesPermissionEnforcement'] : []),
    '--allow-privileged=true',
  ];
}

function auditArgs(directory: string, log: string, level: string): readonly string[] {
  const policy = join(directory, 'audit-policy.yaml');
  const rules = [{ level, omitStages: ['RequestReceived'] }];
  writeFileSync(policy, `${JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules })}\n`);
  return [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`, '--audit-log-mode=batch'];
}

async function healthy(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(1000) })).ok;
  } catch {
    return false;
  }
}

function readyz(url: string, credentials: Credentials): Promise<boolean> {
  return new Promise((resolve) => {
    const options = {
      ca: readFileSync(credentials.caCertificate),
      headers: { authorization: `Bearer ${credentials.tokens.admin}` },
      agent: false,
      timeout: 2000,
    };
    const probe = request(`${url}/readyz`, options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    probe.on('timeout', () => probe.destroy());
    probe.on('error', () => resolve(false));
    probe.end();
  });
}
