/** Figures by name. */
export type Figures = Readonly<Record<string, number>>;

/** Limit of a figure as a multiple of its recorded value. */
export const mostOfRecorded = 1.5;
export const attempts = 3;

/**
 * Measures the named figures, and again those that exceed their limit, up to three times in all; returns the least value of each. Load
 * on the machine makes a figure larger for a while, a loss of speed each time.
 */
export async function measureUntilWithin(
  recorded: Figures,
  names: readonly string[],
  measure: (names: readonly string[]) => Promise<Figures>,
): Promise<Figures> {
  const found: Record<string, number> = {};
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    const open = names.filter((name) => !isWithin(recorded, name, found[name] ?? Number.NaN));
    if (open.length === 0) break;
    const measured = await measure(open);
    for (const name of open)
      found[name] = Math.min(found[name] ?? Number.POSITIVE_INFINITY, measured[name] ?? Number.NaN);
  }
  return found;
}

export const limitOf = (recorded: Figures, name: string): number => (recorded[name] ?? Number.NaN) * mostOfRecorded;

/** Nothing is within an unknown limit. */
export const isWithin = (recorded: Figures, name: string, value: number): boolean => value <= limitOf(recorded, name);
