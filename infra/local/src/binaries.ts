import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureGoPrograms } from './go-programs.ts';
import { kubernetesModule } from './kubernetes-module.ts';

/** The version that go.mod pins. */
export const KUBERNETES_VERSION = 'v1.36.3';

/** Has the servers of another Kubernetes release started, for example v1.34.4. */
export const VERSION_VARIABLE = 'KUBERNETES_VERSION_UNDER_TEST';

/** The version of kube-apiserver and kube-controller-manager that are started. */
export const kubernetesUnderTest = (): string => process.env[VERSION_VARIABLE] || KUBERNETES_VERSION;

/** The version that nats/go.mod pins. NATS has its own module because the control plane takes minutes to build. */
export const NATS_VERSION = 'v2.15.2';

/** The version that jaeger/go.mod pins. */
export const JAEGER_VERSION = 'v1.76.0';

/** The release that prometheus/go.mod pins; the Go module has another version number. */
export const PROMETHEUS_VERSION = 'v3.13.5';

/** The version that helm/go.mod pins. */
export const HELM_VERSION = 'v4.3.1';

const FOLDER = dirname(dirname(fileURLToPath(import.meta.url)));

/** Paths of the programs. The etcd binary is called `server`, after its Go package. */
export interface Binaries {
  readonly etcd: string;
  readonly kubeApiserver: string;
  readonly kubeadm: string;
  readonly kubeControllerManager: string;
  readonly kubectl: string;
}

/**
 * Returns the programs of the control plane. The first call builds them from go.mod (minutes with a cold Go cache, seconds
 * with a warm one); later calls use the cached binaries. `VERSION_VARIABLE` replaces kube-apiserver and
 * kube-controller-manager by those of another release.
 *
 * @throws LocalError `go-missing`, `go-too-old` or `build-failed`
 */
export async function ensureBinaries(say: (line: string) => void = () => {}): Promise<Binaries> {
  const programs = {
    title: `etcd, kube-apiserver, kube-controller-manager, kubeadm and kubectl ${KUBERNETES_VERSION}`,
    maxBuildTime: '15 minutes',
    module: FOLDER,
    version: KUBERNETES_VERSION,
    linkerFlags: linkVersion(KUBERNETES_VERSION),
  };
  const directory = await ensureGoPrograms(programs, say);
  const version = kubernetesUnderTest();
  const servers = version === KUBERNETES_VERSION ? directory : await ensureServers(version, say);
  return {
    etcd: join(directory, 'server'),
    kubeApiserver: join(servers, 'kube-apiserver'),
    kubeadm: join(directory, 'kubeadm'),
    kubeControllerManager: join(servers, 'kube-controller-manager'),
    kubectl: join(directory, 'kubectl'),
  };
}

/** Returns the folder of kube-apiserver and kube-controller-manager of a release, which are built if necessary. */
async function ensureServers(version: string, say: (line: string) => void): Promise<string> {
  const programs = {
    title: `kube-apiserver and kube-controller-manager ${version}`,
    maxBuildTime: '15 minutes',
    module: await kubernetesModule(version),
    version,
    linkerFlags: linkVersion(version),
  };
  return ensureGoPrograms(programs, say);
}

/** The programs do not know their version otherwise. */
const linkVersion = (version: string) => `-s -w -X k8s.io/component-base/version.gitVersion=${version}`;

/**
 * Returns the path of nats-server. The first call builds it (minutes with a cold Go cache).
 *
 * @throws LocalError `go-missing`, `go-too-old` or `build-failed`
 */
export function ensureNatsServer(say: (line: string) => void = () => {}): Promise<string> {
  return ensureProgram(
    'nats-server',
    { title: `nats-server ${NATS_VERSION}`, folder: 'nats', version: NATS_VERSION, maxBuildTime: '2 minutes' },
    say,
  );
}

/**
 * Returns the path of Jaeger. The first call builds it (minutes with a cold Go cache).
 *
 * @throws LocalError `go-missing`, `go-too-old` or `build-failed`
 */
export function ensureJaeger(say: (line: string) => void = () => {}): Promise<string> {
  return ensureProgram(
    'jaeger',
    { title: `Jaeger ${JAEGER_VERSION}`, folder: 'jaeger', version: JAEGER_VERSION, maxBuildTime: '10 minutes' },
    say,
  );
}

/**
 * Returns the paths of Prometheus and promtool. The first call builds them (minutes with a cold Go cache), without the
 * service discovery of cloud providers, which would take most of the build.
 *
 * @throws LocalError `go-missing`, `go-too-old` or `build-failed`
 */
export async function ensurePrometheus(
  say: (line: string) => void = () => {},
): Promise<{ readonly prometheus: string; readonly promtool: string }> {
  const programs = {
    title: `Prometheus and promtool ${PROMETHEUS_VERSION}`,
    maxBuildTime: '8 minutes',
    module: join(FOLDER, 'prometheus'),
    version: PROMETHEUS_VERSION,
    linkerFlags: '-s -w',
    tags: 'remove_all_sd,enable_dns_sd',
  };
  const directory = await ensureGoPrograms(programs, say);
  return { prometheus: join(directory, 'prometheus'), promtool: join(directory, 'promtool') };
}

/**
 * Returns the path of Helm. The first call builds it (minutes with a cold Go cache).
 *
 * @throws LocalError `go-missing`, `go-too-old` or `build-failed`
 */
export function ensureHelm(say: (line: string) => void = () => {}): Promise<string> {
  return ensureProgram(
    'helm',
    { title: `Helm ${HELM_VERSION}`, folder: 'helm', version: HELM_VERSION, maxBuildTime: '6 minutes' },
    say,
  );
}

interface ProgramModule {
  readonly title: string;
  /** Of its Go module. */
  readonly folder: string;
  readonly version: string;
  readonly maxBuildTime: string;
}

/** The path of the one program of a Go module, which is built if necessary. */
async function ensureProgram(
  name: string,
  { folder, ...programs }: ProgramModule,
  say: (line: string) => void,
): Promise<string> {
  const directory = await ensureGoPrograms({ ...programs, module: join(FOLDER, folder), linkerFlags: '-s -w' }, say);
  return join(directory, name);
}
