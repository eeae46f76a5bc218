import type { RequestOptions } from 'node:https';
import { asRecord, asString, type Clock } from '@sluice/platform';
import { ApiError, isApiError } from './api-error.ts';
import { type Authenticator, withoutCredentials } from './authenticator.ts';
import type { ApiClient } from './connection.ts';
import { invalidAnswerError } from './connection-error.ts';
import type { ClusterAccess } from './kubeconfig.ts';

interface ServiceAccountOptions {
  /** Access to the cluster as the user that requests the tokens. */
  readonly access: ClusterAccess;
  /** That user's client. */
  readonly client: ApiClient;
  readonly namespace: string;
  readonly name: string;
  readonly clock: Clock;
}

const lifetimeSeconds = 3600;
/** A token is renewed after this share of its lifetime, so that a failed renewal leaves time to repeat it. */
const renewAfter = 0.8;
const tokenTimeoutMs = 10_000;

/**
 * Access to the same cluster as a ServiceAccount, with tokens from the TokenRequest API. The user needs `create` on
 * `serviceaccounts/token` for it.
 */
export function serviceAccountAccess(options: ServiceAccountOptions): ClusterAccess {
  const { access, namespace, name } = options;
  return {
    ...access,
    source: `ServiceAccount ${namespace}/${name}, requested with the ${access.source}`,
    open: async () => tokenAuthenticator(await access.open(), options),
  };
}

function tokenAuthenticator(
  user: Authenticator,
  { client, namespace, name, clock }: ServiceAccountOptions,
): Authenticator {
  let token = '';
  let renewAt = Number.NEGATIVE_INFINITY;
  return {
    async applyToHTTPSOptions(options) {
      if (clock.monotonic() >= renewAt) {
        const issued = await requestToken(client, namespace, name);
        token = issued.token;
        renewAt = clock.monotonic() + issued.lifetimeSeconds * 1000 * renewAfter;
      }
      await withoutCredentials(user).applyToHTTPSOptions(options);
      Object.assign(options, { headers: { Authorization: `Bearer ${token}` } } satisfies RequestOptions);
    },
  };
}

interface IssuedToken {
  readonly token: string;
  /** The API server may shorten it. */
  readonly lifetimeSeconds: number;
}

async function requestToken(client: ApiClient, namespace: string, name: string): Promise<IssuedToken> {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/serviceaccounts/${encodeURIComponent(name)}/token`;
  const spec = { expirationSeconds: lifetimeSeconds };
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec };
  try {
    const signal = AbortSignal.timeout(tokenTimeoutMs);
    const issued = asRecord((await client.request({ method: 'POST', path, body, signal })).body);
    const token = asString(asRecord(issued.status).token);
    if (token === '') throw invalidAnswerError(client.server, `no token for ServiceAccount ${namespace}/${name}`);
    const { expirationSeconds } = asRecord(issued.spec);
    return { token, lifetimeSeconds: typeof expirationSeconds === 'number' ? expirationSeconds : lifetimeSeconds };
  } catch (error) {
    throw isApiError(error) ? withAdvice(error, `${namespace}/${name}`) : error;
  }
}

function withAdvice(error: ApiError, account: string): ApiError {
  const { status } = error;
  // A missing ServiceAccount is no conflict of the write that needs the token.
  const kind = error.kind === 'retry' ? 'retry' : 'terminal';
  const advice =
    status === 403 || status === 404
      ? '; create the ServiceAccount and allow this user to request its tokens, see infra/kubernetes/controller-accounts.yaml'
      : '';
  const message = `cannot request a token for ServiceAccount ${account}: ${error.message}${advice}`;
  return new ApiError(message, { kind, status: 0, reason: 'CredentialsUnavailable', cause: error });
}
