import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureGoPrograms, type GoPrograms } from './go-programs.ts';
import { kubernetesModule } from './kubernetes-module.ts';

/** The version that go.mod pins. */
export const KUBERNETES_VERSION = 'v1.37.1';

/** Has the servers of another Kubernetes release started, for example v1.34.4. */
export const VERSION_VARIABLE = 'KUBERNETES_VERSION_UNDER_TEST';

/** The version of kube-apiserver and kube-controller-manager that are started. */
export const kubernetesUnderTest = (): string => process.env[VERSION_VARIABLE] || KUBERNETES_VERSION;

export const NATS_VERSION = 'v2.15.2';

/** The version that jaeger/go.mod pins. */
export const JAEGER_VERSION = 'v1.76.0';

/** A release; the Go module has another version number. */
export const PROMETHEUS_VERSION = 'v3.13.5';

export const HELM_VERSION = 'v4.3.1';

/** The version that krew/go.mod pins. */
export const KREW_VERSION = 'v0.5.0';

/** The folder of go.mod. */
const MODULE = dirname(dirname(fileURLToPath(import.meta.url)));

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
  const directory = await ensureGoPrograms(
    {
      title: `etcd, kube-apiserver, kube-controller-manager, kubeadm and kubectl ${KUBERNETES_VERSION}`,
      maxBuildTime: '15 minutes',
      module: MODULE,
      packages: [
        'go.etcd.io/etcd/server/v3',
        ...['kube-apiserver', 'kube-controller-manager', 'kubeadm', 'kubectl'].map(
          (name) => `k8s.io/kubernetes/cmd/${name}`,
        ),
      ],
      version: KUBERNETES_VERSION,
      linkerFlags: linkVersion(KUBERNETES_VERSION),
    },
    say,
  );
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
    packages: ['tool'],
    version,
    linkerFlags: linkVersion(version),
  };
  return ensureGoPrograms(programs, say);
}

/** The programs do not know their version otherwise. */
const linkVersion = (version: string) => `-s -w -X k8s.io/component-base/version.gitVersion=${version}`;

/**
 * Returns the path of nats-server. The first call builds it (minutes with a cold Go cache), as do the following functions.
 *
 * @throws LocalError `go-missing`, `go-too-old` or `build-failed`
 */
export async function ensureNatsServer(say: (line: string) => void = () => {}): Promise<string> {
  const packages = ['github.com/nats-io/nats-server/v2'];
  const directory = await build(
    { title: 'nats-server', version: NATS_VERSION, packages, maxBuildTime: '2 minutes' },
    say,
  );
  return join(directory, 'nats-server');
}

/** Returns the path of Jaeger. */
export async function ensureJaeger(say: (line: string) => void = () => {}): Promise<string> {
  const programs = {
    title: 'Jaeger',
    version: JAEGER_VERSION,
    module: join(MODULE, 'jaeger'),
    packages: ['github.com/jaegertracing/jaeger/cmd/jaeger'],
    maxBuildTime: '10 minutes',
  };
  return join(await build(programs, say), 'jaeger');
}

/**
 * Returns the paths of Prometheus and promtool, without the service discovery of cloud providers, which would take most of
 * the build.
 */
export async function ensurePrometheus(
  say: (line: string) => void = () => {},
): Promise<{ readonly prometheus: string; readonly promtool: string }> {
  const programs = {
    title: 'Prometheus and promtool',
    version: PROMETHEUS_VERSION,
    packages: ['prometheus', 'promtool'].map((name) => `github.com/prometheus/prometheus/cmd/${name}`),
    maxBuildTime: '8 minutes',
    tags: 'remove_all_sd,enable_dns_sd',
  };
  const directory = await build(programs, say);
  return { prometheus: join(directory, 'prometheus'), promtool: join(directory, 'promtool') };
}

/** Returns the path of Helm. */
export async function ensureHelm(say: (line: string) => void = () => {}): Promise<string> {
  const packages = ['helm.sh/helm/v4/cmd/helm'];
  const directory = await build({ title: 'Helm', version: HELM_VERSION, packages, maxBuildTime: '6 minutes' }, say);
  return join(directory, 'helm');
}

/** Returns the path of Krew. */
export async function ensureKrew(say: (line: string) => void = () => {}): Promise<string> {
  const packages = ['sigs.k8s.io/krew/cmd/krew'];
  const programs = { title: 'Krew', version: KREW_VERSION, module: join(MODULE, 'krew'), packages };
  return join(await build({ ...programs, maxBuildTime: '2 minutes' }, say), 'krew');
}

/** Builds programs if necessary and returns their folder. Default module: go.mod. */
function build(
  { title, module = MODULE, ...programs }: Omit<GoPrograms, 'module' | 'linkerFlags'> & { readonly module?: string },
  say: (line: string) => void,
): Promise<string> {
  return ensureGoPrograms({ ...programs, title: `${title} ${programs.version}`, module, linkerFlags: '-s -w' }, say);
}
