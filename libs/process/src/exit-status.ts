/** Every exit status of `sluice`; docs/reference/cli.md says what each means. */
export const exitStatus = { success: 0, failure: 1, usage: 2, interrupted: 130, terminated: 143 } as const;
