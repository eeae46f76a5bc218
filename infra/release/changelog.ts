/** A version in CHANGELOG.md. */
export interface ChangelogEntry {
  readonly version: string;
  /** `2026-11-23`, or `unreleased`. */
  readonly date: string;
  readonly categories: readonly string[];
}

/** Keep a Changelog 1.1.0. */
const categories = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];

const semanticVersion = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-[0-9A-Za-z.-]+)?$/;

export function changelogEntries(text: string): readonly ChangelogEntry[] {
  return text
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [heading = '', ...lines] = part.split('\n');
      const [version = '', date = ''] = heading.split(' - ');
      const found = lines.filter((line) => line.startsWith('### ')).map((line) => line.slice('### '.length));
      return { version, date, categories: found };
    });
}

/** What is wrong with the changelog of a version that is to be built. */
export function changelogProblems(text: string, version: string): readonly string[] {
  const entries = changelogEntries(text);
  const problems = entries.flatMap((entry, index) => [
    ...(semanticVersion.test(entry.version) ? [] : [`"${entry.version}" is not a semantic version`]),
    ...(/^(\d{4}-\d{2}-\d{2}|unreleased)$/.test(entry.date) ? [] : [`${entry.version} has no date`]),
    ...(entry.date === 'unreleased' && index > 0 ? [`${entry.version} is unreleased below a newer version`] : []),
    ...(entry.categories.length > 0 ? [] : [`${entry.version} lists no changes`]),
    ...entry.categories
      .filter((name) => !categories.includes(name))
      .map((name) => `${entry.version}: "${name}" is none of ${categories.join(', ')}`),
  ]);
  if (entries[0]?.version === version) return problems;
  return [...problems, `the first entry is ${entries[0]?.version ?? 'missing'}, but the version is ${version}`];
}
