import { errorMessage } from '@sluice/platform';

/** One health check. */
export interface Check {
  readonly name: string;
  /** Returns details for `?verbose`, or an empty string. Throws the reason if the check fails. */
  readonly run: () => string | Promise<string>;
}

/** A failed livez check restarts the process; a failed readyz check takes it out of service. */
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

const ping: Check = { name: 'ping', run: () => '' };

/**
 * Answers `/livez`, `/readyz`, a single check (`/readyz/bus`), `?verbose` and `?exclude=NAME` in the format of
 * kube-apiserver. Unlike there, a failed check gives its reason.
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
    if (check === undefined) return { status: 404, body: `unknown health check: ${single}\n` };
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

async function find({ name, run }: Check): Promise<Finding> {
  try {
    return { name, well: true, text: await run() };
  } catch (error) {
    const reason = errorMessage(error);
    return { name, well: false, text: reason.split('\n', 1)[0] ?? '' };
  }
}

/** A check that fails with `reason` unless `isWell`. */
export function condition(name: string, isWell: () => boolean, reason: string): Check {
  return {
    name,
    run() {
      if (!isWell()) throw new Error(reason);
      return '';
    },
  };
}

/** Health of a process with one cluster: ready once the cluster's caches are synced. */
export function syncHealth(cluster: string, isSynced: () => boolean): Health {
  const caches = condition(`caches/${cluster}`, isSynced, 'caches not synced');
  return { livez: () => [], readyz: () => [caches] };
}
