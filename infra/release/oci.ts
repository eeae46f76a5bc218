import { gzipSync } from 'node:zlib';
import { type ArchiveEntry, tar } from '@sluice/platform/archive';
import { sha256 } from './checksums.ts';

export type Architecture = 'amd64' | 'arm64';

export interface Platform {
  readonly architecture: Architecture;
  /** From the bottom to the top. */
  readonly layers: readonly { readonly createdBy: string; readonly entries: readonly ArchiveEntry[] }[];
}

export interface ImageOptions {
  /** The reference in the index: `sluice:0.2.0`. */
  readonly name: string;
  /** Seconds since the Unix epoch. */
  readonly createdAt: number;
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly Cmd: readonly string[];
    readonly WorkingDir: string;
    readonly Labels: Readonly<Record<string, string>>;
  };
}

const mediaTypes = {
  index: 'application/vnd.oci.image.index.v1+json',
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar+gzip',
} as const;

/** The files of an OCI image layout (version 1.0.0) with one image for each platform, by path. */
export function imageLayout(platforms: readonly Platform[], options: ImageOptions): ReadonlyMap<string, Buffer> {
  const files = new Map<string, Buffer>();
  const blob = (mediaType: string, content: Buffer) => {
    const digest = sha256(content);
    files.set(`blobs/sha256/${digest}`, content);
    return { mediaType, digest: `sha256:${digest}`, size: content.length };
  };
  const created = new Date(options.createdAt * 1_000).toISOString().replace('.000Z', 'Z');
  const manifests = platforms.map(({ architecture, layers }) => {
    const built = layers.map(({ createdBy, entries }) => {
      const content = tar(entries, options.createdAt);
      return { createdBy, diffId: `sha256:${sha256(content)}`, descriptor: blob(mediaTypes.layer, gzipSync(content)) };
    });
    const config = blob(
      mediaTypes.config,
      json({
        created,
        architecture,
        os: 'linux',
        config: options.config,
        rootfs: { type: 'layers', diff_ids: built.map(({ diffId }) => diffId) },
        history: built.map(({ createdBy }) => ({ created, created_by: createdBy })),
      }),
    );
    const manifest = {
      ...{ schemaVersion: 2, mediaType: mediaTypes.manifest, config },
      layers: built.map(({ descriptor }) => descriptor),
      annotations: options.config.Labels,
    };
    return { ...blob(mediaTypes.manifest, json(manifest)), platform: { architecture, os: 'linux' } };
  });
  const index = blob(mediaTypes.index, json({ schemaVersion: 2, mediaType: mediaTypes.index, manifests }));
  const annotations = { 'org.opencontainers.image.ref.name': options.name };
  files.set(
    'index.json',
    json({ schemaVersion: 2, mediaType: mediaTypes.index, manifests: [{ ...index, annotations }] }),
  );
  files.set('oci-layout', json({ imageLayoutVersion: '1.0.0' }));
  return files;
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
