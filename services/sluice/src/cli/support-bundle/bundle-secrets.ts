import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { type Configuration, configurationSecrets, type Environment } from '@sluice/fleet/configuration';
import { defaultKubeconfigs, type KubeconfigEnvironment } from '@sluice/kubernetes';
import { asRecord, asString, secretsIn } from '@sluice/platform';
import { loadAll } from 'js-yaml';

/** The secrets of the configuration, of the kubeconfigs that it uses with the files that they name, and of the environment. */
export function bundleSecrets(
  configuration: Configuration,
  environment: Environment & KubeconfigEnvironment,
): readonly string[] {
  const { clusters, clusterSecrets } = configuration;
  const named = [...clusters, ...(clusterSecrets === undefined ? [] : [clusterSecrets])];
  const paths = named.flatMap(({ kubeconfig }) => (kubeconfig === undefined ? [] : [kubeconfig]));
  const { PWD: _, OLDPWD: __, ...variables } = environment;
  const kubeconfigs = [...paths, ...defaultKubeconfigs(environment)].flatMap(filesAt);
  return [
    ...configurationSecrets(configuration, environment),
    ...kubeconfigs.flatMap(secretsOfKubeconfig),
    ...content('/var/run/secrets/kubernetes.io/serviceaccount/token'),
    ...secretsIn(variables),
    ...[configuration.traces.endpoint, ...exporterEndpoints(environment)].flatMap(keysInPath),
  ];
}

/** A path may be a directory of kubeconfigs, or missing. */
function filesAt(path: string): readonly string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
  return readdirSync(path).map((name) => join(path, name));
}

function secretsOfKubeconfig(file: string): readonly string[] {
  return content(file)
    .flatMap(parsed)
    .flatMap((kubeconfig) => {
      const { users } = asRecord(kubeconfig);
      const found: readonly unknown[] = Array.isArray(users) ? users : [];
      const files = found.flatMap((entry) => {
        const user = asRecord(asRecord(entry).user);
        const { config } = asRecord(user['auth-provider']);
        return [user.tokenFile, user['client-key'], asRecord(config).tokenFile]
          .map(asString)
          .filter((path) => path !== '');
      });
      return [...secretsIn(kubeconfig), ...files.flatMap((path) => content(resolve(dirname(file), path)))];
    });
}

const exporterEndpoints = (environment: Environment) =>
  Object.entries(environment).flatMap(([name, value]) => (/^OTEL_EXPORTER_OTLP_.*ENDPOINT$/.test(name) ? [value] : []));

/** The path of a collector's address may contain a key. */
function keysInPath(address = ''): readonly string[] {
  const segments = URL.parse(address)?.pathname.split('/') ?? [];
  return segments.filter((segment) => segment !== '' && segment !== 'v1' && segment !== 'traces');
}

function content(file: string): readonly string[] {
  try {
    return [readFileSync(file, 'utf8')];
  } catch {
    // Sluice cannot read it either, so nothing of it is in the bundle.
    return [];
  }
}

function parsed(text: string): readonly unknown[] {
  try {
    return loadAll(text);
  } catch {
    return [];
  }
}
