import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sha256 } from './checksums.ts';
import { imageLayout } from './oci.ts';

const layout = imageLayout(
  (['amd64', 'arm64'] as const).map((architecture) => ({
    architecture,
    layers: [{ createdBy: 'test', entries: [{ path: 'file', content: Buffer.from(architecture) }] }],
  })),
  {
    name: 'sluice:1.2.3',
    createdAt: 1_700_000_000,
    config: { User: '1:1', Env: [], Entrypoint: ['/x'], Cmd: [], WorkingDir: '/', Labels: { a: 'b' } },
  },
);

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

const blob = ({ digest, size }: Descriptor): Buffer => {
  const content = layout.get(`blobs/${digest.replace(':', '/')}`);
  if (content === undefined) throw new Error(`no blob ${digest}`);
  expect([content.length, `sha256:${sha256(content)}`]).toEqual([size, digest]);
  return content;
};
const json = <T>(content: Buffer | undefined) => JSON.parse(String(content)) as T;

test('a layout names one index, with a manifest for each platform', () => {
  expect(json(layout.get('oci-layout'))).toEqual({ imageLayoutVersion: '1.0.0' });
  const { manifests } = json<{ manifests: readonly (Descriptor & { annotations: object })[] }>(
    layout.get('index.json'),
  );
  expect(manifests.map(({ annotations }) => annotations)).toEqual([
    { 'org.opencontainers.image.ref.name': 'sluice:1.2.3' },
  ]);
  const [index] = manifests;
  if (index === undefined) throw new Error('no index');
  const images = json<{ manifests: readonly (Descriptor & { platform: object })[] }>(blob(index)).manifests;
  expect(images.map(({ platform }) => platform)).toEqual([
    { architecture: 'amd64', os: 'linux' },
    { architecture: 'arm64', os: 'linux' },
  ]);
  for (const image of images) {
    const { config, layers } = json<{ config: Descriptor; layers: readonly Descriptor[] }>(blob(image));
    const found = json<{ created: string; rootfs: { diff_ids: readonly string[] }; config: object }>(blob(config));
    expect(found).toMatchObject({ created: '2023-11-14T22:13:20Z', config: { User: '1:1', Entrypoint: ['/x'] } });
    expect(layers.map((layer) => `sha256:${sha256(gunzipSync(blob(layer)))}`)).toEqual(found.rootfs.diff_ids);
  }
});
