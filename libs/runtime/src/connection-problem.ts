const problems: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  CONNECTION_CLOSED: 'connection closed',
  ETIMEDOUT: 'connection timed out',
  EHOSTUNREACH: 'host unreachable',
  ENETUNREACH: 'network unreachable',
  ENOTFOUND: 'host name not found',
  Timeout: 'no answer in time',
};

/** Why a server does not answer, in a few words: `connection refused`. Undefined if the code is another. */
export const connectionProblem = (code: string): string | undefined => problems[code];
