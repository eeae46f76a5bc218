/** The output of `pnpm licenses list --json`: packages by SPDX expression. */
export type LicensedPackages = Readonly<
  Record<string, readonly { readonly name: string; readonly versions: readonly string[] }[]>
>;

/** Licenses whose terms allow use and distribution with Sluice, which is under Apache-2.0. */
const allowed: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC0-1.0',
  // Of data: caniuse-lite, which Babel reads in StrykerJS. It asks for attribution where the data is distributed, which it is not.
  'CC-BY-4.0',
  'ISC',
  'MIT',
  // File-level copyleft: allowed, because no file of these packages is changed.
  'MPL-2.0',
  'PSF-2.0',
  'Python-2.0',
  'Unlicense',
]);

/** Whether an SPDX expression can be satisfied with allowed licenses. Supports `OR`, `AND` and parentheses around the whole. */
export function isAllowed(expression: string): boolean {
  const terms = expression.replace(/^\((.*)\)$/, '$1');
  return terms.split(' OR ').some((choice) => choice.split(' AND ').every((license) => allowed.has(license)));
}

/** Returns `name@version` of each package under another license, with that license. */
export function disallowed(packages: LicensedPackages): readonly string[] {
  return Object.entries(packages)
    .filter(([license]) => !isAllowed(license))
    .flatMap(([license, found]) =>
      found.flatMap(({ name, versions }) => versions.map((version) => `${name}@${version} (${license})`)),
    );
}
