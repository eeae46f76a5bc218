/** Filter and order of the list of Services. Empty: no restriction. */
export interface ServiceFilter {
  readonly cluster: string;
  readonly namespace: string;
  readonly q: string;
  readonly status: string;
  readonly sort: string;
}

export const noFilter: ServiceFilter = { cluster: '', namespace: '', q: '', status: '', sort: 'name' };

const names = Object.keys(noFilter) as readonly (keyof ServiceFilter)[];

/** Reads the filter from the query of a URL. */
export function filterOf(search: string): ServiceFilter {
  const given = new URLSearchParams(search);
  const parts = names.map((name) => [name, given.get(name) ?? noFilter[name]] as const);
  return Object.fromEntries(parts) as unknown as ServiceFilter;
}

/** The query of a URL, with `?`; empty for `noFilter`. */
export function searchOf(filter: ServiceFilter): string {
  const parts = names
    .filter((name) => filter[name] !== noFilter[name])
    .map((name): [string, string] => [name, filter[name]]);
  return parts.length === 0 ? '' : `?${new URLSearchParams(parts)}`;
}

export const isRestrictive = ({ sort: _, ...restrictions }: ServiceFilter): boolean =>
  Object.values(restrictions).some((value) => value !== '');
