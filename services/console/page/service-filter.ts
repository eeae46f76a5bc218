/** Which Services are listed, and in which order. Empty: whatever they are. */
export interface ServiceFilter {
  readonly cluster: string;
  readonly namespace: string;
  readonly q: string;
  readonly status: string;
  readonly sort: string;
}

export const everything: ServiceFilter = { cluster: '', namespace: '', q: '', status: '', sort: 'name' };

const names = Object.keys(everything) as readonly (keyof ServiceFilter)[];

/** From the address of the page; what it does not say is as in `everything`. */
export function filterOf(search: string): ServiceFilter {
  const given = new URLSearchParams(search);
  const parts = names.map((name) => [name, given.get(name) ?? everything[name]] as const);
  return Object.fromEntries(parts) as unknown as ServiceFilter;
}

/** As the address of the page has it, with `?`; empty for `everything`. */
export function searchOf(filter: ServiceFilter): string {
  const parts = names
    .filter((name) => filter[name] !== everything[name])
    .map((name): [string, string] => [name, filter[name]]);
  return parts.length === 0 ? '' : `?${new URLSearchParams(parts)}`;
}

export const isNarrow = ({ sort: _, ...narrow }: ServiceFilter): boolean =>
  Object.values(narrow).some((part) => part !== '');
