import { readFilter, writeFilter } from './url-filter.ts';

/** Filter and order of the list of Services. Empty: no restriction. */
export interface ServiceFilter {
  readonly cluster: string;
  readonly namespace: string;
  readonly q: string;
  readonly status: string;
  readonly sort: string;
  /** `namespace`: Services of a namespace are together. */
  readonly group: string;
}

export const noFilter: ServiceFilter = { cluster: '', namespace: '', q: '', status: '', sort: 'problem', group: '' };

/** Reads the filter from the query of a URL. */
export const filterOf = (search: string): ServiceFilter => readFilter(search, noFilter);

/** The query of a URL, with `?`; empty for `noFilter`. */
export const searchOf = (filter: ServiceFilter): string => writeFilter(filter, noFilter);

export const isRestrictive = ({ sort: _, group: __, ...restrictions }: ServiceFilter): boolean =>
  Object.values(restrictions).some((value) => value !== '');
