interface Named {
  readonly pod: { readonly name: string };
}

/** Where Pods are other objects than before; undefined if any came, went or changed places. Objects are never changed. */
export function changedPlaces(before: readonly Named[], now: readonly Named[]): readonly number[] | undefined {
  if (before.length !== now.length) return undefined;
  const places: number[] = [];
  for (let i = 0; i < now.length; i++) {
    const [a, b] = [before[i], now[i]];
    if (a === b) continue;
    if (a?.pod.name !== b?.pod.name) return undefined;
    places.push(i);
  }
  return places;
}
