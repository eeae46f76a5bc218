import type { RequestOptions } from 'node:https';
import { createSecureContext } from 'node:tls';
import { type Clock, knownSecrets, type Logger, secretsIn, sleep } from '@sluice/platform';
import { ApiError, isApiError } from './api-error.ts';
import type { ClusterAccess } from './kubeconfig.ts';
import { isKubeconfigError, KubeconfigError } from './kubeconfig-error.ts';

/** Credentials for the API server at one point in time. */
export interface Credential {
  /** Increases with each evaluation. */
  readonly version: number;
  /** Authorization and, where configured, Impersonate-User. */
  readonly headers: Readonly<Record<string, string>>;
  /** The same object while its content is unchanged. */
  readonly tls: TlsOptions;
}

export interface TlsOptions {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
  readonly rejectUnauthorized?: boolean;
  readonly servername?: string;
}

/** Interval between evaluations: files rotate, and plugins return credentials that expire. */
const evaluateEveryMs = 60_000;
/** Minimum time between evaluations after a 401, so that a rejected token does not start a plugin per request. */
const refreshEveryMs = 10_000;
const pluginTimeoutMs = 60_000;

/** Keeps the credentials of a cluster current: token files, exec plugins, client certificates. */
export class Credentials {
  readonly #access: ClusterAccess;
  readonly #clock: Clock;
  readonly #logger: Logger;
  #config: ReturnType<ClusterAccess['open']> | undefined;
  #credential: Credential | undefined;
  #evaluatedAt = 0;
  #refreshedAt: number | undefined;
  #evaluation: Promise<Credential> | undefined;

  constructor(access: ClusterAccess, clock: Clock, logger: Logger) {
    this.#access = access;
    this.#clock = clock;
    this.#logger = logger;
  }

  /**
   * The current credential; a promise only if it must be evaluated. Throws ApiError `CredentialsUnavailable` if none
   * was ever available.
   */
  current(): Credential | Promise<Credential> {
    const age = this.#clock.monotonic() - this.#evaluatedAt;
    if (this.#credential !== undefined && age < evaluateEveryMs) return this.#credential;
    return this.#evaluateOnce();
  }

  /**
   * After a 401 to `rejected`: evaluates kubeconfig, files and plugins again. Returns undefined if there is nothing
   * newer.
   */
  async refresh(rejected: Credential): Promise<Credential | undefined> {
    if (this.#credential !== undefined && this.#credential.version > rejected.version) return this.#credential;
    const now = this.#clock.monotonic();
    const tooSoon = this.#refreshedAt !== undefined && now - this.#refreshedAt < refreshEveryMs;
    if (this.#evaluation === undefined) {
      if (tooSoon) return undefined;
      this.#refreshedAt = now;
      this.#config = undefined;
    }
    const credential = await this.#evaluateOnce();
    return credential.version > rejected.version ? credential : undefined;
  }

  #evaluateOnce(): Promise<Credential> {
    this.#evaluation ??= this.#evaluate().finally(() => {
      this.#evaluation = undefined;
    });
    return this.#evaluation;
  }

  async #evaluate(): Promise<Credential> {
    try {
      const credential = await this.#read((this.#credential?.version ?? 0) + 1);
      this.#credential = credential;
      return credential;
    } catch (error) {
      const failure = unavailable(error, this.#access);
      if (this.#credential === undefined) throw failure;
      this.#logger.warn('cannot renew credentials; keeping the current ones', { reason: failure.message });
      return this.#credential;
    } finally {
      this.#evaluatedAt = this.#clock.monotonic();
    }
  }

  async #read(version: number): Promise<Credential> {
    this.#config ??= this.#access.open();
    const config = await this.#config.catch((error: unknown) => {
      this.#config = undefined;
      throw error;
    });
    const options: RequestOptions = {};
    const done = new AbortController();
    const timeout = sleep(this.#clock, pluginTimeoutMs, done.signal).then(() => {
      if (!done.signal.aborted) throw new Error(`the plugin returned no credential within ${pluginTimeoutMs / 1000} s`);
    });
    try {
      await Promise.race([config.applyToHTTPSOptions(options), timeout]);
    } finally {
      done.abort();
    }
    const credential = {
      version,
      headers: headersOf(options),
      tls: tlsOf(options, this.#access, this.#credential?.tls),
    };
    knownSecrets.remember(this, secretsOf(credential, options, this.#access));
    return credential;
  }

  /** Call when no request uses them any more. */
  close(): void {
    knownSecrets.forget(this);
  }
}

function headersOf(options: RequestOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    // Trimmed, because token files usually end in a line break, which is invalid in a header.
    if (typeof value === 'string') headers[name.toLowerCase()] = value.trim();
  }
  if (typeof options.auth === 'string') {
    headers.authorization = `Basic ${Buffer.from(options.auth).toString('base64')}`;
  }
  return headers;
}

/**
 * What is sent to the API server and its proxy. Tokens contain no spaces: the author of a kubeconfig must not be able to hide
 * sentences from the log.
 */
function secretsOf({ headers, tls }: Credential, { auth }: RequestOptions, access: ClusterAccess): readonly string[] {
  const token = headers.authorization?.replace(/^[A-Za-z]+ /, '') ?? '';
  const password = auth?.slice(auth.indexOf(':') + 1) ?? '';
  const words = [token, password, ...secretsIn([access.server, access.proxyUrl])].filter((word) => !/\s/.test(word));
  return tls.key === undefined ? words : [...words, tls.key.toString()];
}

/** Returns `known`, without checking it again, if the options are the same. */
function tlsOf(options: RequestOptions, access: ClusterAccess, known: TlsOptions | undefined): TlsOptions {
  const pem = (value: unknown) => (typeof value === 'string' || Buffer.isBuffer(value) ? value : undefined);
  const [ca, cert, key] = [pem(options.ca), pem(options.cert), pem(options.key)];
  const tls: TlsOptions = {
    ...(ca && { ca }),
    ...(cert && { cert }),
    ...(key && { key }),
    ...(options.rejectUnauthorized === false && { rejectUnauthorized: false }),
    ...(options.servername !== undefined && { servername: options.servername }),
  };
  if (known !== undefined && sameTls(known, tls)) return known;
  const problem = (what: string) =>
    new KubeconfigError('KUBECONFIG_BAD_CERTIFICATE', `${what} in context "${access.context}" of ${access.source}`);
  if (ca !== undefined && !ca.includes('-----BEGIN')) throw problem('the certificate authority is not a PEM block');
  try {
    createSecureContext({ ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) });
  } catch (error) {
    const text = error instanceof Error ? error.message : 'unknown error';
    throw problem(`certificate or key is invalid, or they do not match (${text})`);
  }
  return tls;
}

function sameTls(a: TlsOptions, b: TlsOptions): boolean {
  const same = (x: string | Buffer | undefined, y: string | Buffer | undefined) => `${x ?? ''}` === `${y ?? ''}`;
  return (
    same(a.ca, b.ca) &&
    same(a.cert, b.cert) &&
    same(a.key, b.key) &&
    a.rejectUnauthorized === b.rejectUnauthorized &&
    a.servername === b.servername
  );
}

function unavailable(error: unknown, access: ClusterAccess): ApiError {
  // A failed request for a token, which says why.
  if (isApiError(error)) return error;
  const where = `context "${access.context}" of ${access.source}`;
  const details = { status: 0, reason: 'CredentialsUnavailable' };
  if (isKubeconfigError(error)) return new ApiError(error.message, { ...details, kind: 'terminal', cause: error });
  // The parser's error would quote the plugin's output, including the token.
  const text =
    error instanceof SyntaxError || error instanceof TypeError
      ? 'the plugin did not print an ExecCredential'
      : error instanceof Error
        ? error.message.replace(/\s+/g, ' ').trim().slice(0, 500)
        : 'unknown error';
  return new ApiError(`no credential for ${where}: ${text || 'the plugin failed'}; run the plugin or log in by hand`, {
    ...details,
    kind: 'retry',
  });
}
