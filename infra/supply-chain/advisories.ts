/** What `pnpm audit --json` returned. */
export interface Audit {
  readonly stdout: string;
  readonly stderr: string;
}

export type AdvisoryResult =
  | { readonly result: 'passed' }
  | { readonly result: 'failed' | 'skipped'; readonly reason: string };

/** The registry cannot be reached, or answers no audit requests. */
const unanswered = 'ERR_PNPM_AUDIT_BAD_RESPONSE';

/** The result of an audit. It counts as skipped only if the registry has not answered: any other error is a failure. */
export function judgeAudit({ stdout, stderr }: Audit): AdvisoryResult {
  const advisories = advisoriesIn(stdout);
  if (advisories === undefined) {
    return stderr.includes(unanswered)
      ? { result: 'skipped', reason: 'the package registry answers no audit requests' }
      : { result: 'failed', reason: (stderr || stdout).trim() };
  }
  const relevant = advisories.filter(({ severity }) => severity !== 'info' && severity !== 'low');
  if (relevant.length === 0) return { result: 'passed' };
  return { result: 'failed', reason: relevant.map(describe).join('\n') };
}

interface Advisory {
  readonly module_name: string;
  readonly severity: string;
  readonly title: string;
  readonly url: string;
  readonly findings: readonly { readonly version: string }[];
}

function advisoriesIn(text: string): readonly Advisory[] | undefined {
  try {
    const { advisories }: { advisories?: Readonly<Record<string, Advisory>> } = JSON.parse(text);
    return advisories && Object.values(advisories);
  } catch {
    return undefined;
  }
}

function describe({ module_name: name, severity, title, url, findings }: Advisory): string {
  const versions = findings.map(({ version }) => `${name}@${version}`).join(', ');
  return `${severity}: ${versions}: ${title} (${url})`;
}
