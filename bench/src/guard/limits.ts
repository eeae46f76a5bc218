/** Figures by name. */
export type Figures = Readonly<Record<string, number>>;

/** Limit of a figure of the comparison, as a multiple of its recorded value. */
export const mostOfRecorded = 1.5;
/** The same for a figure that every run repeats. A gain of this size must be recorded, or a later loss would hide in it. */
export const mostOfRepeatable = 1.1;
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

/** Whether a figure that every run repeats is neither a loss nor an unrecorded gain. */
export function isRepeated(recorded: Figures, name: string, value: number): boolean {
  const expected = recorded[name] ?? Number.NaN;
  return value <= expected * mostOfRepeatable && value >= expected / mostOfRepeatable;
}
