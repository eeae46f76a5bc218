/** Checks a value that was read from a store. Returns the path of the first part that is wrong, or undefined. */
export type Shape = (value: unknown) => string | undefined;

const is =
  (matches: (value: unknown) => boolean): Shape =>
  (value) =>
    matches(value) ? undefined : '';

export const number = is((value) => typeof value === 'number' && Number.isFinite(value));
export const text = is((value) => typeof value === 'string');
export const flag = is((value) => typeof value === 'boolean');
export const anything = is(() => true);

export const nullable =
  (shape: Shape): Shape =>
  (value) =>
    value === null ? undefined : shape(value);

export const optional =
  (shape: Shape): Shape =>
  (value) =>
    value === undefined ? undefined : shape(value);

/** An object with at least these fields. */
export const object =
  (fields: Readonly<Record<string, Shape>>): Shape =>
  (value) =>
    isRecord(value) ? first(Object.entries(fields), ([name, shape]) => within(name, shape(value[name]))) : '';

/** An object whose values all have this shape. */
export const record =
  (shape: Shape): Shape =>
  (value) =>
    isRecord(value) ? first(Object.entries(value), ([name, part]) => within(name, shape(part))) : '';

export const list =
  (shape: Shape): Shape =>
  (value) =>
    Array.isArray(value) ? first([...value.entries()], ([i, item]) => within(String(i), shape(item))) : '';

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function first<T>(items: readonly T[], check: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const wrong = check(item);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

const within = (name: string, wrong: string | undefined): string | undefined =>
  wrong === undefined ? undefined : [name, wrong].filter(Boolean).join('.');
