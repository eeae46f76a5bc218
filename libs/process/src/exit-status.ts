/** Every exit status of `sluice`. */
export const exitStatus = { success: 0, failure: 1, usage: 2, interrupted: 130, terminated: 143 } as const;

/** What each status means, as docs/reference/cli.md says. */
export const exitStatusMeanings: Readonly<Record<keyof typeof exitStatus, string>> = {
  success: 'success; for `run` and the roles: an orderly shutdown',
  failure:
    'a failure: a check of `doctor` failed, `migrate check` found that nobody writes, a cluster cannot be served, the API server still refuses a write when `run` ends, shadow mode found an unexplained difference, `run` is not the leader anymore, a process did not stop in time, or there is no answer',
  usage: 'invalid usage or configuration, including missing permissions',
  interrupted: 'a second SIGINT during the shutdown: exited immediately',
  terminated: 'a second SIGTERM during the shutdown: exited immediately',
};
