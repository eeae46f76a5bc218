import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { krewManifest } from './krew.ts';

test('the Krew manifest has a platform for each archive', () => {
  const manifest = krewManifest({
    version: '1.2.3',
    baseUrl: 'https://example.com/v1.2.3',
    archives: [{ architecture: 'arm64', file: 'sluice-1.2.3-linux-arm64.tar.gz', sha256: 'ab' }],
  });
  expect(load(manifest)).toMatchObject({
    apiVersion: 'krew.googlecontainertools.github.com/v1alpha2',
    kind: 'Plugin',
    // Krew requires the name of the file: sluice.yaml.
    metadata: { name: 'sluice' },
    spec: {
      version: 'v1.2.3',
      shortDescription: expect.stringMatching(/^.{1,50}$/),
      platforms: [
        {
          selector: { matchLabels: { os: 'linux', arch: 'arm64' } },
          uri: 'https://example.com/v1.2.3/sluice-1.2.3-linux-arm64.tar.gz',
          sha256: 'ab',
          bin: 'sluice-1.2.3-linux-arm64/bin/kubectl-sluice',
        },
      ],
    },
  });
});
