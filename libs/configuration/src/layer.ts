/** Where a value comes from. */
export type Origin =
  | { readonly from: 'default' }
  | { readonly from: 'file'; readonly file: string }
  | { readonly from: 'environment'; readonly variable: string }
  | { readonly from: 'flag'; readonly flag: string };

/** A value as it was given, not checked yet. */
export interface Given {
  readonly raw: unknown;
  readonly origin: Origin;
}

/** What one source gives, by path: of `settings`, of the same with `File` behind it, or `clusters`. */
export type Layer = ReadonlyMap<string, Given>;

/** How a message begins: which value of which source is meant. */
export function where(origin: Origin, path: string): string {
  switch (origin.from) {
    case 'file':
      // Without a path, all of the file is meant.
      return path === '' ? origin.file : `${origin.file}: ${path}`;
    case 'environment':
      return `${origin.variable} (${path})`;
    case 'flag':
      return `${origin.flag} (${path})`;
    case 'default':
      return path;
  }
}

/** Short: the comment behind a line of `sluice config`. */
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
