interface Named {
  readonly pod: { readonly name: string };
}

/**
 * Returns the indexes of Pods that are different objects than before, or undefined if a Pod was added, removed or
 * moved. Pod objects are immutable.
 */
export function changedIndexes(before: readonly Named[], now: readonly Named[]): readonly number[] | undefined {
  if (before.length !== now.length) return undefined;
  const indexes: number[] = [];
  for (let i = 0; i < now.length; i++) {
    const [a, b] = [before[i], now[i]];
    if (a === b) continue;
    if (a?.pod.name !== b?.pod.name) return undefined;
    indexes.push(i);
  }
  return indexes;
}
