import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Configuration } from '@sluice/configuration';
import { defaultKubeconfigs, type KubeconfigEnvironment } from '@sluice/kubernetes';
import { loadAll } from 'js-yaml';
import { secretsIn } from './redact.ts';

/** The secrets of the configuration and of the kubeconfigs that it uses. */
export function knownSecrets(configuration: Configuration, environment: KubeconfigEnvironment): readonly string[] {
  const { clusters, clusterSecrets } = configuration;
  const named = [...clusters, ...(clusterSecrets === undefined ? [] : [clusterSecrets])];
  const paths = named.flatMap(({ kubeconfig }) => (kubeconfig === undefined ? [] : [kubeconfig]));
  const kubeconfigs = [...paths, ...defaultKubeconfigs(environment)].flatMap(filesAt).flatMap(parsed);
  return [...secretsIn(configuration), ...secretsIn(kubeconfigs)];
}

/** A path may be a directory of kubeconfigs, or missing. */
function filesAt(path: string): readonly string[] {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
  return readdirSync(path).map((name) => join(path, name));
}

function parsed(file: string): readonly unknown[] {
  try {
    return loadAll(readFileSync(file, 'utf8'));
  } catch {
    // Sluice cannot read it either, so nothing of it is in the bundle.
    return [];
  }
}
