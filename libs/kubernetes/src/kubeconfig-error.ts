type KubeconfigErrorCode =
  /** None of the files exists. */
  | 'KUBECONFIG_NOT_FOUND'
  /** A file exists but cannot be read. */
  | 'KUBECONFIG_UNREADABLE'
  /** Not YAML, or not a kubeconfig. */
  | 'KUBECONFIG_MALFORMED'
  /** No context is selected, or the selected one does not exist. */
  | 'KUBECONFIG_NO_CONTEXT'
  /** The context refers to a cluster or user that is missing or incomplete. */
  | 'KUBECONFIG_INCOMPLETE'
  /** A file that the kubeconfig refers to (CA, certificate, key, token) cannot be read. */
  | 'KUBECONFIG_FILE_MISSING'
  /** A kubeconfig from a Secret refers to a plugin or a local file. */
  | 'KUBECONFIG_NOT_SELF_CONTAINED'
  /** A kubeconfig from a Secret names a server without TLS. */
  | 'KUBECONFIG_NOT_ENCRYPTED'
  /** A certificate or key is invalid, or they do not match. */
  | 'KUBECONFIG_BAD_CERTIFICATE';

/** An unusable kubeconfig. The message says what is wrong, where, and what to do, and never contains a secret. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
  readonly code: KubeconfigErrorCode;

  constructor(code: KubeconfigErrorCode, message: string) {
    // No cause: parser errors quote their input, which may contain secrets.
    super(message);
    this.code = code;
  }
}

export function isKubeconfigError(error: unknown): error is KubeconfigError {
  return error instanceof KubeconfigError;
}
