/** A filter in the query of a URL: texts by name. */
type Filter = Readonly<Record<string, string>>;

/** Reads a filter from the query of a URL; what is not given is as in `none`. */
export function readFilter<F extends object>(search: string, none: F & { [Name in keyof F]: string }): F {
  const given = new URLSearchParams(search);
  const parts = Object.entries(none as Filter).map(([name, value]) => [name, given.get(name) ?? value] as const);
  return Object.fromEntries(parts) as unknown as F;
}

/** The query of a URL, with `?`; empty if the filter is `none`. */
export function writeFilter<F extends object>(filter: F, none: F & { [Name in keyof F]: string }): string {
  const parts = Object.entries(filter as Filter).filter(([name, value]) => value !== (none as Filter)[name]);
  return parts.length === 0
    ? ''
    : `?${new URLSearchParams(parts.map(([name, value]): [string, string] => [name, value]))}`;
}
