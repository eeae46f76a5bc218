import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureGoPrograms } from './go-programs.ts';

/** The version that go.mod pins; the binaries would not know it themselves. */
export const KUBERNETES_VERSION = 'v1.36.3';

/** The version that nats/go.mod pins. It has a module of its own: the other one takes minutes to build. */
export const NATS_VERSION = 'v2.15.2';

/** The version that jaeger/go.mod pins. */
export const JAEGER_VERSION = 'v1.76.0';

/** What prometheus/go.mod pins, by the number that everybody else knows it by. */
export const PROMETHEUS_VERSION = 'v3.13.5';

const FOLDER = dirname(dirname(fileURLToPath(import.meta.url)));

/** The paths of the built programs. etcd's program is called `server` after its module. */
export interface Binaries {
  readonly etcd: string;
  readonly kubeApiserver: string;
  readonly kubeControllerManager: string;
  readonly kubectl: string;
}

/**
 * The programs of the control plane, built from go.mod at the first call (minutes when Go's cache is cold, seconds
 * when warm) and taken from the cache afterwards.
 *
 * @throws LocalError `go-missing`, `go-too-old` or `build-failed`
 */
export async function ensureBinaries(say: (line: string) => void = () => {}): Promise<Binaries> {
  const programs = {
    title: `etcd, kube-apiserver, kube-controller-manager and kubectl ${KUBERNETES_VERSION}`,
    patience: '15 minutes',
    module: FOLDER,
    version: KUBERNETES_VERSION,
    linkerFlags: `-s -w -X k8s.io/component-base/version.gitVersion=${KUBERNETES_VERSION}`,
  };
  const directory = await ensureGoPrograms(programs, say);
  return {
    etcd: join(directory, 'server'),
    kubeApiserver: join(directory, 'kube-apiserver'),
    kubeControllerManager: join(directory, 'kube-controller-manager'),
    kubectl: join(directory, 'kubectl'),
  };
}

/**
 * The path of nats-server, built at the first call (a minute when Go's cache is cold).
 *
 * @throws LocalError `go-missing`, `go-too-old` or `build-failed`
 */
export async function ensureNatsServer(say: (line: string) => void = () => {}): Promise<string> {
  const programs = {
    title: `nats-server ${NATS_VERSION}`,
    patience: '2 minutes',
    module: join(FOLDER, 'nats'),
    version: NATS_VERSION,
    linkerFlags: '-s -w',
  };
  return join(await ensureGoPrograms(programs, say), 'nats-server');
}

/**
 * The path of Jaeger, built at the first call (minutes when Go's cache is cold).
 *
 * @throws LocalError `go-missing`, `go-too-old` or `build-failed`
 */
export async function ensureJaeger(say: (line: string) => void = () => {}): Promise<string> {
  const programs = {
    title: `Jaeger ${JAEGER_VERSION}`,
    patience: '10 minutes',
    module: join(FOLDER, 'jaeger'),
    version: JAEGER_VERSION,
    linkerFlags: '-s -w',
  };
  return join(await ensureGoPrograms(programs, say), 'jaeger');
}

/**
 * The paths of Prometheus and its promtool, built at the first call (minutes when Go's cache is cold). Prometheus finds
 * its targets by static configuration, files and DNS only: the clients of all clouds would take most of the build.
 *
 * @throws LocalError `go-missing`, `go-too-old` or `build-failed`
 */
export async function ensurePrometheus(
  say: (line: string) => void = () => {},
): Promise<{ readonly prometheus: string; readonly promtool: string }> {
  const programs = {
    title: `Prometheus and promtool ${PROMETHEUS_VERSION}`,
    patience: '8 minutes',
    module: join(FOLDER, 'prometheus'),
    version: PROMETHEUS_VERSION,
    linkerFlags: '-s -w',
    tags: 'remove_all_sd,enable_dns_sd',
  };
  const directory = await ensureGoPrograms(programs, say);
  return { prometheus: join(directory, 'prometheus'), promtool: join(directory, 'promtool') };
}
