/** One thing that has to be well. */
export interface Check {
  readonly name: string;
  /** What is to be said about it, or nothing; throws the reason if it is not well. */
  readonly ask: () => string | Promise<string>;
}

/** What is asked by whom: of livez depends whether the process is started again, of readyz whether it counts as working. */
export interface Health {
  livez(): readonly Check[];
  readyz(): readonly Check[];
}

export interface HealthAnswer {
  readonly status: number;
  readonly body: string;
}

interface Finding {
  readonly name: string;
  readonly well: boolean;
  readonly text: string;
}

const ping: Check = { name: 'ping', ask: () => '' };

/**
 * Answers `/livez` or `/readyz`, a single check below it (`/readyz/bus`), `?verbose` and `?exclude=NAME`, in the form
 * of kube-apiserver. Unlike there, what fails says why.
 */
export async function answerHealth(
  name: 'livez' | 'readyz' | 'healthz',
  single: string | undefined,
  query: URLSearchParams,
  given: readonly Check[],
): Promise<HealthAnswer> {
  const checks = [ping, ...given];
  if (single !== undefined) {
    const check = checks.find((one) => one.name === single || encodeURI(one.name) === single);
    if (check === undefined) return { status: 404, body: `there is no check ${single}\n` };
    const { well, text } = await find(check);
    return well ? { status: 200, body: text || 'ok' } : { status: 503, body: `${text}\n` };
  }
  const excluded = new Set(query.getAll('exclude'));
  const findings = await Promise.all(
    checks.map((check) =>
      excluded.has(check.name) ? { name: check.name, well: true, text: 'excluded' } : find(check),
    ),
  );
  const well = findings.every((finding) => finding.well);
  if (well && !query.has('verbose')) return { status: 200, body: 'ok' };
  const lines = [...findings.map(line), `${name} check ${well ? 'passed' : 'failed'}`];
  return { status: well ? 200 : 503, body: `${lines.join('\n')}\n` };
}

function line({ name, well, text }: Finding): string {
  return `[${well ? '+' : '-'}]${name} ${well ? 'ok' : 'failed'}${text === '' ? '' : `: ${text}`}`;
}

async function find({ name, ask }: Check): Promise<Finding> {
  try {
    return { name, well: true, text: await ask() };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { name, well: false, text: reason.split('\n', 1)[0] ?? '' };
  }
}

/** A check of something that is well or not. */
export function condition(name: string, isWell: () => boolean, reason: string): Check {
  return {
    name,
    ask() {
      if (!isWell()) throw new Error(reason);
      return '';
    },
  };
}

/** Of one process on one cluster: it is ready once all lists are in. */
export function syncHealth(cluster: string, isSynced: () => boolean): Health {
  const lists = condition(`caches/${cluster}`, isSynced, 'caches are not synced yet');
  return { livez: () => [], readyz: () => [lists] };
}
