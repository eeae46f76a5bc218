import { asRecord } from '@sluice/platform';
import type { ApiClient } from '../index.ts';
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

async function reviewOne(connection: ApiClient, access: Access, signal: AbortSignal): Promise<boolean> {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: access },
  };
  const { body } = await connection.request({ method: 'POST', path, body: review, signal });
  return asRecord(asRecord(body).status).allowed === true;
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
