/** The source of a value. */
export type Origin =
  | { readonly from: 'default' }
  | { readonly from: 'file'; readonly file: string }
  | { readonly from: 'environment'; readonly variable: string }
  | { readonly from: 'flag'; readonly flag: string };

/** A value as given, not validated yet. */
export interface Given {
  readonly raw: unknown;
  readonly origin: Origin;
}

/** The values of one source, by path: a setting, a setting followed by `File`, or `clusters`. */
export type Layer = ReadonlyMap<string, Given>;

/** Prefix of a message: the source and the setting it is about. */
export function where(origin: Origin, path: string): string {
  switch (origin.from) {
    case 'file':
      // An empty path means the whole file.
      return path === '' ? origin.file : `${origin.file}: ${path}`;
    case 'environment':
      return `${origin.variable} (${path})`;
    case 'flag':
      return `${origin.flag} (${path})`;
    case 'default':
      return path;
  }
}

/** Short form, for the comments of `sluice config`. */
export function originText(origin: Origin): string {
  switch (origin.from) {
    case 'file':
      return 'file';
    case 'environment':
      return `env ${origin.variable}`;
    case 'flag':
      return `flag ${origin.flag}`;
    case 'default':
      return 'default';
  }
}
