import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { sbom } from './sbom.ts';

interface Component {
  readonly 'bom-ref': string;
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly scope: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
}

const lockfile = readFileSync(join(import.meta.dirname, '../../pnpm-lock.yaml'), 'utf8');
const debian = { name: 'libc6', version: '2.36-9', purl: 'pkg:deb/debian/libc6@2.36-9?arch=amd64', sha256: 'ab' };
const options = { version: '1.2.3', createdAt: 1_700_000_000, lockfile, others: [debian] };
const bom = JSON.parse(sbom(options)) as { readonly components: readonly Component[] };
const find = (name: string, group?: string) => bom.components.filter((one) => one.name === name && one.group === group);
const scopes = (name: string, group?: string) => [...new Set(find(name, group).map(({ scope }) => scope))].sort();

test('every package of the lockfile is listed once, with version, package URL and hash', () => {
  const { packages } = load(lockfile) as { readonly packages: Readonly<Record<string, unknown>> };
  const listed = bom.components.filter(({ purl }) => purl.startsWith('pkg:npm/'));
  expect(listed.map((one) => one['bom-ref']).sort()).toEqual(Object.keys(packages).sort());
  for (const { group, name, version, purl, hashes } of listed) {
    expect(purl).toBe(`pkg:npm/${group === undefined ? '' : `${group.replace('@', '%40')}/`}${name}@${version}`);
    expect(hashes?.[0]).toEqual({ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) });
  }
});

test('packages that only build or test Sluice are excluded, those of the program are required', () => {
  // The linter of imports has a commander of another version.
  expect(scopes('commander')).toEqual(['excluded', 'required']);
  expect(scopes('client-node', '@kubernetes')).toEqual(['required']);
  expect(scopes('vitest')).toEqual(['excluded']);
  expect(scopes('biome', '@biomejs')).toEqual(['excluded']);
});

test('the packages of the image are listed', () => {
  expect(find('libc6')).toMatchObject([{ version: '2.36-9', hashes: [{ alg: 'SHA-256', content: 'ab' }] }]);
});

test('the document is CycloneDX 1.6 and depends only on its arguments', () => {
  expect(sbom(options)).toBe(sbom(options));
  expect(bom).toMatchObject({
    ...{ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 },
    serialNumber: expect.stringMatching(/^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/),
    metadata: { timestamp: '2023-11-14T22:13:20.000Z', component: { name: 'sluice', version: '1.2.3' } },
  });
  expect(sbom({ ...options, version: '1.2.4' })).not.toContain(
    (bom as unknown as { serialNumber: string }).serialNumber,
  );
});
