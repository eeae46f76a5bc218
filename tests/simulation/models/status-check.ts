import { errorFromResponse, errorFromStatus } from '@sluice/kubernetes';
import { type Random, randomInteger } from '@sluice/platform';
import { chance, type ModelCheck, pick, same } from './model-check.ts';

const statuses = [400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 422, 425, 429, 500, 501, 502, 503, 504, 507, 599];
const reasons = [
  '',
  'NotFound',
  'AlreadyExists',
  'Conflict',
  'Expired',
  'Gone',
  'Forbidden',
  'InternalError',
  'Invalid',
];
const causes = [
  [],
  [{ reason: 'NamespaceTerminating' }],
  [{ reason: 'FieldValueInvalid' }, { reason: 'NamespaceTerminating' }],
  'no list',
];
const requested = { resource: 'endpointslices', name: 'web-1' };
const longestRetryMs = 120_000;

/** What a failed request means for its caller, for answers of API servers, proxies and admission webhooks. */
export const statusCheck: ModelCheck = {
  invariant: 'failures are classified',
  run(random) {
    for (let n = 0; n < 60; n++) checkOne(random);
  },
};

function checkOne(random: Random): void {
  const [status, reason, now] = [pick(random, statuses), pick(random, reasons), Date.UTC(2026, 0, 1)];
  const seconds = randomInteger(random, 0, 200);
  const details = {
    kind: pick(random, ['endpointslices', 'namespaces']),
    name: pick(random, ['web-1', 'shop']),
    causes: pick(random, causes),
    ...(chance(random, 0.3) && { retryAfterSeconds: seconds }),
  };
  const message = pick(random, ['', 'too old', 'two\nlines']);
  const isStatus = chance(random, 0.9);
  const body = isStatus
    ? { kind: 'Status', reason, code: status, message, details }
    : pick(random, [undefined, 'text', {}, [], null]);
  const isAbout = chance(random, 0.8);
  const header = chance(random, 0.3)
    ? pick(random, [`${seconds}`, ` ${seconds} `, new Date(now + seconds * 1_000).toUTCString(), 'soon'])
    : undefined;
  const fromWatch = isStatus && header === undefined && chance(random, 0.2);
  const error = fromWatch
    ? errorFromStatus(body, now)
    : errorFromResponse({ status, retryAfter: header, now }, body, isAbout ? requested : undefined);
  const about = `status ${status} with ${JSON.stringify(body)}, Retry-After ${header}`;
  same(`kind of ${about}`, error.kind, isStatus ? kindOf(status, reason, details, isAbout && !fromWatch) : 'retry');
  same(`status of ${about}`, error.status, status);
  same(`reason of ${about}`, error.reason, (isStatus && reason) || `HTTP${status}`);
  same(`whether the message of ${about} is one line`, /[\n\r]/.test(error.message) || error.message === '', false);
  const inHeader = header === undefined || header === 'soon' ? undefined : seconds * 1_000;
  const inBody = isStatus && (details.retryAfterSeconds ?? 0) > 0 ? seconds * 1_000 : undefined;
  const wantedMs = inHeader ?? inBody;
  same(
    `Retry-After of ${about}`,
    error.retryAfterMs,
    wantedMs === undefined ? undefined : Math.min(wantedMs, longestRetryMs),
  );
}

/** As the documentation of the API server's clients has it: retries for overload and absence that may pass, errors otherwise. */
function kindOf(
  status: number,
  reason: string,
  details: { kind: string; name: string; causes: unknown },
  isAbout: boolean,
): string {
  const isTerminating =
    Array.isArray(details.causes) && details.causes.some((cause) => cause.reason === 'NamespaceTerminating');
  if (status === 403)
    return isTerminating ? 'namespaceTerminating' : reason === 'Expired' || reason === 'Gone' ? 'gone' : 'terminal';
  if (reason === 'Expired' || reason === 'Gone') return 'gone';
  if (status === 404 && reason === 'NotFound')
    return isAbout && details.kind === requested.resource && details.name === requested.name ? 'notFound' : 'conflict';
  if (status === 409 && reason === 'Conflict') return 'conflict';
  if (status === 409 && reason === 'AlreadyExists') return 'conflict';
  const passing = [404, 408, 409, 410, 425, 429];
  return passing.includes(status) || Math.floor(status / 100) === 5 ? 'retry' : 'terminal';
}
