import type { Kind, Plain } from './kinds.ts';

/** A setting, as it is declared. */
export interface Setting<T> {
  readonly kind: Kind<T>;
  /** Description for the help, the documentation and the example. */
  readonly about: string;
  /** Flag of the commands. With `file`, it names a file, because other users of the machine can read arguments. */
  readonly flag?: string;
  readonly default?: T;
  /** Default per kind of bus, if they differ. */
  readonly defaultOf?: Readonly<Record<string, T>>;
  /** Never printed. */
  readonly secret?: boolean;
  /** An address, which may contain a password. */
  readonly address?: boolean;
  /** The value may be read from a file, named by `<path>File`. */
  readonly file?: boolean;
  /** Kinds of bus to which the setting applies. Default: see `kindsOf`. */
  readonly of?: readonly string[];
  /** Value for the example file, if the default is not helpful. */
  readonly example?: Plain;
}

type Rest<T> = Omit<Setting<NoInfer<T>>, 'kind' | 'about'>;

export function setting<T, const R extends Rest<T>>(kind: Kind<T>, about: string, rest: R = {} as R) {
  return { kind, about, ...rest };
}

/** Values that are secret, or the path of a file that has them. */
export const secret = { file: true, secret: true } as const;
export const pem = { file: true, example: '-----BEGIN CERTIFICATE-----…' } as const;
