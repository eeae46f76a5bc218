import { dump } from 'js-yaml';
import type { Architecture } from './oci.ts';

export interface KrewOptions {
  readonly version: string;
  /** Where the archives are published, for example the download page of the tag. */
  readonly baseUrl: string;
  readonly archives: readonly { readonly architecture: Architecture; readonly file: string; readonly sha256: string }[];
}

/** The manifest with which Krew installs `kubectl sluice`. */
export function krewManifest({ version, baseUrl, archives }: KrewOptions): string {
  return dump({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    metadata: { name: 'sluice' },
    spec: {
      version: `v${version}`,
      shortDescription: 'Explain and check Endpoints and EndpointSlices',
      description:
        'Shows why Pods of a Service get traffic or not, checks a cluster for Sluice, and runs its controllers.',
      platforms: archives.map(({ architecture, file, sha256 }) => ({
        selector: { matchLabels: { os: 'linux', arch: architecture } },
        uri: new URL(file, `${baseUrl.replace(/\/$/, '')}/`).href,
        sha256,
        // Krew links only this file into $PATH; it runs the program beside it.
        bin: `${file.replace(/\.tar\.gz$/, '')}/bin/kubectl-sluice`,
      })),
    },
  });
}
