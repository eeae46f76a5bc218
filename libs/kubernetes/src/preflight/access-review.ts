import { asRecord } from '@sluice/platform';
import { type ApiClient, type ApiRequest, isApiError } from '../index.ts';
import type { Access } from './permissions.ts';
import { allows, reviewRules } from './rules-review.ts';

/**
 * Returns for each access whether this client is allowed to do it, in the given order. One SelfSubjectRulesReview usually
 * covers all of them. Accesses that its rules do not clearly allow get a SelfSubjectAccessReview each, because some
 * authorizers cannot list their rules.
 */
export async function reviewAccess(
  connection: ApiClient,
  accesses: readonly Access[],
  signal: AbortSignal,
): Promise<readonly boolean[]> {
  const rules = await reviewRules(connection, signal);
  const uncovered = accesses.filter((access) => !rules.some((rule) => allows(rule, access)));
  const allowed = await inBatches(uncovered, (access) => reviewOne(connection, access, signal));
  const denied = new Set(uncovered.filter((_, index) => allowed[index] !== true));
  return accesses.map((access) => !denied.has(access));
}

async function reviewOne(
  connection: ApiClient,
  access: Access,
  signal: AbortSignal,
  request: Pick<ApiRequest, 'headers' | 'timeoutMs'> = {},
): Promise<boolean> {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: access },
  };
  const { body } = await connection.request({ ...request, method: 'POST', path, body: review, signal });
  return asRecord(asRecord(body).status).allowed === true;
}

/** Longer than a review takes, and short enough to wait for. */
const tokenReviewMs = 3_000;

/**
 * Whether the user of a token is allowed to do this; `unauthenticated` if the API server does not accept the token.
 * `connection` has no credentials, so that only the token counts.
 *
 * @throws ApiError if the API server does not answer
 */
export async function reviewTokenAccess(
  connection: ApiClient,
  token: string,
  access: Access,
  signal: AbortSignal,
): Promise<'allowed' | 'denied' | 'unauthenticated'> {
  // It would be that of an anonymous user.
  if (token === '') return 'unauthenticated';
  const request = { headers: { authorization: `Bearer ${token}` }, timeoutMs: tokenReviewMs };
  try {
    return (await reviewOne(connection, access, signal, request)) ? 'allowed' : 'denied';
  } catch (error) {
    // Of another kind, it is the answer of a proxy.
    if (isApiError(error) && error.kind === 'terminal') {
      if (error.status === 401) return 'unauthenticated';
      if (error.status === 403) return 'denied';
    }
    throw error;
  }
}

/** Each concurrent request needs its own connection, and opening one costs more than the review. */
const batchSize = 4;

/** Runs in batches rather than a sliding window: a request sent right after an answer would open another connection. */
async function inBatches<T, A>(items: readonly T[], run: (item: T) => Promise<A>): Promise<readonly A[]> {
  const answers: A[] = [];
  for (let next = 0; next < items.length; next += batchSize) {
    answers.push(...(await Promise.all(items.slice(next, next + batchSize).map(run))));
  }
  return answers;
}
