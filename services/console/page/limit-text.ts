/** That some Services have no history. */
export const limitText = (services: number): string =>
  `only ${services} Services have a history (console.maxServices); others are shown over all clusters only`;
