import type { ControllerState } from './controller-state.ts';

/**
 * Version of the stored form: names of fields and shapes of their values. Raise it with every change that a program of the
 * former version would misread; what another version stored is discarded and the partition is resynced.
 */
export const storedFormVersion = 7;

/** One field of a Service's state as a store keeps it. `key`: formatted Service key; an undefined value removes the field. */
export interface StoredField {
  readonly key: string;
  readonly field: string;
  readonly value: unknown;
}

type Parts = Readonly<Record<string, unknown>>;

/**
 * How the value of a field is split. A controller's state changes with every Change, its plan and trigger times do not; a
 * watch echo changes an object's stamp alone. Each part is stored as a field of its own, `field:part`, and only when it is
 * another object than before: values are replaced, never modified.
 */
interface Layout {
  readonly parts: readonly string[];
  /** The rest of the value, and its parts; undefined for absent ones. */
  split(value: unknown): readonly [rest: unknown, parts: Parts];
  join(rest: unknown, parts: Parts): unknown;
}

/** `T` is the type that this package puts into the field. */
function layout<T, Rest>(
  parts: readonly string[],
  split: (value: T) => readonly [rest: Rest, parts: Parts],
  join: (rest: Rest, parts: Parts) => unknown,
): Layout {
  return { parts, split: (value) => split(value as T), join: (rest, found) => join(rest as Rest, found) };
}

/** By the kind of field, which is the beginning of its name. */
const layouts: Readonly<Record<string, Layout>> = {
  controller: layout(
    ['triggers', 'plan', 'after'],
    (state: ControllerState) => {
      const { triggers, inFlight } = state;
      const rest = inFlight && { ...inFlight, message: undefined, triggersAfter: undefined };
      const after = inFlight?.triggersAfter ?? undefined;
      return [
        { ...state, triggers: undefined, inFlight: rest },
        { triggers: triggers ?? undefined, plan: inFlight?.message, after },
      ];
    },
    ({ inFlight, ...state }, { triggers = null, plan: message, after: triggersAfter = null }) => {
      return { ...state, triggers, inFlight: inFlight && { ...inFlight, message, triggersAfter } };
    },
  ),
  slice: layout(
    ['object'],
    (entry: { readonly slice: unknown }) => [{ ...entry, slice: undefined }, { object: entry.slice }],
    (rest, { object: slice }) => ({ ...rest, slice }),
  ),
  endpoints: layout(
    ['object'],
    (entry: { readonly endpoints: unknown }) => [{ ...entry, endpoints: undefined }, { object: entry.endpoints }],
    (rest, { object: endpoints }) => ({ ...rest, endpoints }),
  ),
};

/** The stored parts of one Service's state. */
export class StoredParts {
  /** The stored value of each part of a field, in the order of the layout. */
  readonly #stored = new Map<string, unknown[]>();

  /** Records that the field is stored with this value. */
  load(kind: string, field: string, value: unknown): void {
    this.split(kind, field, value, () => {});
  }

  /** Calls `store` with each field to store so that this field, of this kind, has this value; undefined removes. */
  split(kind: string, field: string, value: unknown, store: (field: string, value: unknown) => void): void {
    const layout = layouts[kind];
    if (layout === undefined) return store(field, value);
    const [rest, parts]: readonly [unknown, Parts] = value === undefined ? [undefined, {}] : layout.split(value);
    store(field, rest);
    const stored = this.#stored.get(field) ?? layout.parts.map(() => undefined);
    for (const [i, part] of layout.parts.entries()) {
      const now = parts[part];
      if (stored[i] === now) continue;
      stored[i] = now;
      store(`${field}:${part}`, now);
    }
    if (value !== undefined) this.#stored.set(field, stored);
    else this.#stored.delete(field);
  }
}

/** Joins the parts of all fields. */
export function joinParts(entries: readonly StoredField[]): readonly StoredField[] {
  const parts = new Map<string, Record<string, unknown>>();
  const whole: StoredField[] = [];
  for (const entry of entries) {
    const { key, field, value } = entry;
    const colon = field.lastIndexOf(':');
    if (!layouts[kindOf(field)]?.parts.includes(field.slice(colon + 1)) || colon < 0) {
      whole.push(entry);
      continue;
    }
    const owner = `${key} ${field.slice(0, colon)}`;
    const known = parts.get(owner) ?? {};
    known[field.slice(colon + 1)] = value;
    parts.set(owner, known);
  }
  return whole.map((entry) => {
    const layout = layouts[kindOf(entry.field)];
    if (layout === undefined) return entry;
    return { ...entry, value: layout.join(entry.value, parts.get(`${entry.key} ${entry.field}`) ?? {}) };
  });
}

function kindOf(field: string): string {
  return /^[^/:]*/.exec(field)?.[0] ?? field;
}
