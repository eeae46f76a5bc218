const units = { Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3, Ti: 1024 ** 4 } as const;

/** Parses a size in the binary units of Kubernetes (`64Mi`, `1Gi`) to bytes. Undefined if malformed. */
export function parseSize(text: string): number | undefined {
  const [, amount, unit] = /^(\d{1,6})(Ki|Mi|Gi|Ti)$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(amount) * units[unit as keyof typeof units];
}

/** Formats bytes in the largest unit that shows them exactly; undefined if there is none. */
export function exactSize(bytes: number): string | undefined {
  const [unit, size] = Object.entries(units).findLast(([, one]) => bytes % one === 0) ?? [];
  return unit === undefined || size === undefined ? undefined : `${bytes / size}${unit}`;
}
