import type { Access } from './access.ts';
import type { Connection } from './connection.ts';
import { invalidAnswerError } from './connection-error.ts';
import { asRecord, asString } from './record.ts';
import { allows, reviewRules } from './rules-review.ts';

export interface ServerVersion {
  /** E.g. `v1.36.3`. */
  readonly gitVersion: string;
  readonly major: number;
  readonly minor: number;
}

export async function getServerVersion(connection: Connection, signal: AbortSignal): Promise<ServerVersion> {
  const { body } = await connection.request({ method: 'GET', path: '/version', signal });
  const { gitVersion, major, minor } = asRecord(body);
  if (asString(gitVersion) === '') throw invalidAnswerError(connection.server, 'it tells no version');
  // Some providers write `27+`.
  return {
    gitVersion: asString(gitVersion),
    major: Number.parseInt(asString(major), 10),
    minor: Number.parseInt(asString(minor), 10),
  };
}

/**
 * Asks the API server of each whether this client may do that, in their order. What the rules do not allow beyond doubt is
 * asked for by itself: authorizers that list no rules may allow or forbid it.
 */
export async function reviewAccess(
  connection: Connection,
  accesses: readonly Access[],
  signal: AbortSignal,
): Promise<readonly boolean[]> {
  const rules = await reviewRules(connection, signal);
  const open = accesses.filter((access) => !rules.some((rule) => allows(rule, access)));
  const answers = await askAll(open, (access) => reviewOne(connection, access, signal));
  const refused = new Set(open.filter((_, index) => answers[index] !== true));
  return accesses.map((access) => !refused.has(access));
}

async function reviewOne(connection: Connection, access: Access, signal: AbortSignal): Promise<boolean> {
  const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes: access },
  };
  const { body } = await connection.request({ method: 'POST', path, body: review, signal });
  return asRecord(asRecord(body).status).allowed === true;
}

/** Each needs a connection, and to make one costs more than an answer. */
const atOnce = 4;

/** In rounds: a question that follows at once upon an answer finds its connection not free yet, and makes another. */
async function askAll<T, A>(questions: readonly T[], ask: (question: T) => Promise<A>): Promise<readonly A[]> {
  const answers: A[] = [];
  for (let next = 0; next < questions.length; next += atOnce) {
    answers.push(...(await Promise.all(questions.slice(next, next + atOnce).map(ask))));
  }
  return answers;
}
