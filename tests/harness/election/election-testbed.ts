import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RoleProcess } from '@sluice/demo/distributed';
import { Connection, loadKubeconfig } from '@sluice/kubernetes';
import { type ControlPlane, freePorts, kubectl, startControlPlane } from '@sluice/local';
import { asRecord, asString, silentLogger, sleep } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { until } from '@sluice/platform/testing';
import { type AuditedWrite, AuditLog, isGuarded, violationsIn } from './election-audit.ts';
import { withoutDns } from './without-dns.ts';

export interface LeaseTimes {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

export type Failure = 'SIGKILL' | 'SIGSTOP' | 'SIGTERM';

export interface Takeover {
  readonly failure: Failure;
  /** From the signal until the API server received the first write of the next leader. */
  readonly gapMs: number;
  /** How the former leader ended; after SIGSTOP it is resumed when the next leader writes. */
  readonly exit: string;
}

interface Member {
  readonly user: string;
  readonly process: RoleProcess;
  readonly metricsPort: number;
}

const namespace = 'shop';
const services = 40;
const leaseName = 'sluice-leader';

/**
 * Two processes with `--leader-elect` on a real API server with RBAC and an audit log. Each process has a user of its own and
 * cannot resolve names. Pods change all the time, so the leader always has something to write.
 */
export class ElectionTestbed {
  readonly #directory: string;
  readonly #times: LeaseTimes;
  readonly #controlPlane: ControlPlane;
  readonly #admin: Connection;
  readonly #audit: AuditLog;
  readonly #stop = new AbortController();
  readonly #log: string[] = [];
  readonly #members: Member[] = [];
  #started = 0;
  #load: Promise<void> | undefined;

  private constructor(directory: string, times: LeaseTimes, controlPlane: ControlPlane, admin: Connection) {
    this.#directory = directory;
    this.#times = times;
    this.#controlPlane = controlPlane;
    this.#admin = admin;
    this.#audit = new AuditLog(controlPlane.auditLog ?? '');
  }

  static async open(directory: string, times: LeaseTimes): Promise<ElectionTestbed> {
    const controlPlane = await startControlPlane({
      ...{ directory: join(directory, 'cluster'), name: 'election', authorization: 'RBAC', audit: 'Metadata' },
      // A request is in the log before it is answered.
      apiServerArgs: ['--audit-log-mode=blocking'],
    });
    const access = await loadKubeconfig({ paths: [controlPlane.adminKubeconfig] });
    const admin = new Connection({ access, userAgent: 'election-load', clock: systemClock, logger: silentLogger });
    const testbed = new ElectionTestbed(directory, times, controlPlane, admin);
    await kubectl(controlPlane.adminKubeconfig, ['create', '-f', '-'], JSON.stringify(initialObjects()));
    await testbed.#startMember();
    await testbed.#startMember();
    testbed.#load = testbed.#changePods();
    return testbed;
  }

  /** Kills, freezes or stops the leader, waits for the writes of the next one, and starts a new standby. */
  async takeOver(failure: Failure): Promise<Takeover> {
    const leader = await this.#writingLeader();
    await this.#amidWritesOf(leader);
    const signalledAt = Date.now();
    leader.process.child.kill(failure);
    const standbys = this.#members.filter((member) => member !== leader).map(({ user }) => user);
    const write = await this.#until(`a write after ${failure}`, async () =>
      this.writes().find(({ user, receivedAt }) => standbys.includes(user) && receivedAt > signalledAt),
    );
    this.#members.splice(this.#members.indexOf(leader), 1);
    if (failure === 'SIGSTOP') leader.process.child.kill('SIGCONT');
    const exit = await leader.process.exited;
    await this.#startMember();
    return { failure, gapMs: write.receivedAt - signalledAt, exit };
  }

  /** Writes to Endpoints, EndpointSlices and Events so far, according to the API server. */
  writes(): readonly AuditedWrite[] {
    return this.#audit.read().filter(isGuarded);
  }

  /** The state of the cluster on the page of each process. */
  async states(): Promise<readonly string[]> {
    const overviews = this.#members.map(async ({ metricsPort }) => {
      const { clusters } = asRecord(await (await fetch(`http://127.0.0.1:${metricsPort}/api/v1/overview`)).json());
      return asString(asRecord(Array.isArray(clusters) ? clusters[0] : undefined).state);
    });
    return Promise.all(overviews);
  }

  /** Those that only a leader may send, and that another process sent. */
  violations(): readonly string[] {
    return violationsIn(this.#audit.read(), { leaseName, leaseDurationMs: this.#times.leaseDurationMs });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#load;
    await Promise.all(this.#members.map(({ process }) => process.stop()));
    await this.#admin.destroy();
    await this.#controlPlane.stop();
  }

  /** Starts a process as a user of its own, and waits until its caches are synced. */
  async #startMember(): Promise<void> {
    this.#started += 1;
    const name = `sluice-${this.#started}`;
    const admin = (...args: string[]) => kubectl(this.#controlPlane.adminKubeconfig, args);
    await admin('create', 'serviceaccount', name, '-n', 'sluice');
    const token = (await admin('create', 'token', name, '-n', 'sluice', '--duration=2h')).trim();
    const config = JSON.parse(readFileSync(this.#controlPlane.adminKubeconfig, 'utf8'));
    config.users[0].user = { token };
    const kubeconfig = join(this.#directory, `${name}.kubeconfig`);
    writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
    const [metricsPort = 0] = await freePorts(1);
    const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = this.#times;
    const flags = [
      ...['--kubeconfig', kubeconfig, '--metrics-bind-address', `127.0.0.1:${metricsPort}`],
      // A leader that freezes has writes waiting.
      ...[
        '--output',
        'none',
        '--max-writes-in-flight',
        '2',
        '--leader-elect',
        '--leader-elect-lease-duration',
        `${leaseDurationMs}ms`,
      ],
      ...['--leader-elect-renew-deadline', `${renewDeadlineMs}ms`, '--leader-elect-retry-period', `${retryPeriodMs}ms`],
    ];
    const process = new RoleProcess(name, 'run', flags, (_, line) => this.#log.push(`${name}: ${line}`), withoutDns);
    this.#members.push({ user: `system:serviceaccount:sluice:${name}`, process, metricsPort });
    await this.#until(`${name} to be ready`, async () => {
      const answer = await fetch(`http://127.0.0.1:${metricsPort}/readyz`).catch(() => undefined);
      return answer?.ok ? true : undefined;
    });
  }

  /** The member that holds the Lease and has written. */
  #writingLeader(): Promise<Member> {
    return this.#until('a leader that writes', async () => {
      const path = `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${leaseName}`;
      const { body } = await this.#admin.request({ method: 'GET', path, signal: this.#stop.signal });
      const holder = asString(asRecord(asRecord(body).spec).holderIdentity);
      const leader = this.#members.find(({ process }) => holder.includes(`_${process.pid}_`));
      const hasWritten = this.writes().some(({ user }) => user === leader?.user);
      return hasWritten ? leader : undefined;
    });
  }

  /** Waits for a write that has just ended: with so many Services, more are in flight and waiting. */
  async #amidWritesOf({ user }: Member): Promise<void> {
    const since = Date.now();
    await this.#until('another write of the leader', async () =>
      this.writes().findLast((write) => write.user === user && write.receivedAt > since),
    );
  }

  async #changePods(): Promise<void> {
    const { signal } = this.#stop;
    for (let ready = false; !signal.aborted; ready = !ready) {
      await Promise.all(serviceNames().map((name) => this.#setReady(name, ready)));
      // biome-ignore lint/plugin: paces the load
      await sleep(systemClock, 250, signal);
    }
  }

  async #setReady(name: string, ready: boolean): Promise<void> {
    const podIP = `10.0.0.${name.slice('web-'.length)}`;
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
    const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }], conditions };
    const headers = { 'content-type': 'application/strategic-merge-patch+json' };
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
    await this.#admin
      .request({ method: 'PATCH', path, headers, body: { status }, signal: this.#stop.signal })
      // Skipped, as if it had not changed.
      .catch(() => {});
  }

  #until<T>(what: string, read: () => Promise<T | undefined>): Promise<T> {
    return until(what, read, () => this.#log.slice(-40).join('\n'));
  }
}

const serviceNames = () => Array.from({ length: services }, (_, index) => `web-${index + 1}`);

/** Every ServiceAccount in namespace `sluice` gets the permissions that rbac.yaml gives to `sluice`. */
function initialObjects(): object {
  const subjects = [
    { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:serviceaccounts:sluice' },
  ] as const;
  const binding = (kind: 'ClusterRole' | 'Role', name: string) => ({
    ...{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: `${kind}Binding`, subjects },
    metadata: { name: `every-${name}`, ...(kind === 'Role' && { namespace: 'kube-system' }) },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name },
  });
  const items = [
    ...[binding('ClusterRole', 'sluice-watcher'), binding('ClusterRole', 'sluice-writer')],
    ...[binding('Role', 'sluice-writer'), binding('Role', 'sluice-leader-election')],
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    ...serviceNames().flatMap((name) => [
      {
        ...{ apiVersion: 'v1', kind: 'Service', metadata: { namespace, name } },
        spec: { selector: { app: name }, ports: [{ port: 80 }] },
      },
      {
        ...{ apiVersion: 'v1', kind: 'Pod', metadata: { namespace, name, labels: { app: name } } },
        spec: { containers: [{ name: 'web', image: 'web' }], nodeName: 'n1', automountServiceAccountToken: false },
      },
    ]),
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } },
  ];
  return { apiVersion: 'v1', kind: 'List', items };
}
