/** Takes the place of a secret. */
export const masked = '***';
