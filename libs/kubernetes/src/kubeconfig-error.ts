export type KubeconfigErrorCode =
  /** None of the files exists. */
  | 'KUBECONFIG_NOT_FOUND'
  /** A file is there, but cannot be read. */
  | 'KUBECONFIG_UNREADABLE'
  /** Not YAML, or not a kubeconfig. */
  | 'KUBECONFIG_MALFORMED'
  /** No context is chosen, or there is none of that name. */
  | 'KUBECONFIG_NO_CONTEXT'
  /** The context names a cluster or user that is not there, or one without what it needs. */
  | 'KUBECONFIG_INCOMPLETE'
  /** A file that the kubeconfig names (CA, certificate, key, token) cannot be read. */
  | 'KUBECONFIG_FILE_MISSING'
  /** A kubeconfig from elsewhere names a plugin or a file of this machine. */
  | 'KUBECONFIG_NOT_SELF_CONTAINED'
  /** A certificate or key is not one, or they do not belong together. */
  | 'KUBECONFIG_BAD_CERTIFICATE';

/** A kubeconfig that cannot be used. The message says what is wrong, where, and what to do; it never holds a secret. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
  readonly code: KubeconfigErrorCode;

  constructor(code: KubeconfigErrorCode, message: string) {
    // No cause: the errors of parsers quote their input, which holds secrets.
    super(message);
    this.code = code;
  }
}

export function isKubeconfigError(error: unknown): error is KubeconfigError {
  return error instanceof KubeconfigError;
}
