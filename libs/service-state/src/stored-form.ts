/**
 * Version of the stored form: names of fields and shapes of their values. Raise it with every change that a program of the
 * former version would misread; what another version stored is discarded and the partition is resynced.
 */
export const storedFormVersion = 8;

/** One field of a Service's state as a store keeps it. `key`: formatted Service key; an undefined value removes the field. */
export interface StoredField {
  readonly key: string;
  readonly field: string;
  readonly value: unknown;
}

type Value = Readonly<Record<string, unknown>>;
/** Where a part is in its value. */
type Path = readonly [name: string, inner?: string];

/**
 * The parts of a value that are stored as fields of their own, `field:part`, and only when they are other objects than before:
 * values are replaced, never modified. A controller's state changes with every Change, its plan and trigger times do not; a
 * watch echo changes an object's stamp alone. By the kind of field, which is the beginning of its name.
 */
const parts: Readonly<Record<string, Readonly<Record<string, Path>>>> = {
  controller: {
    triggers: ['trackers', 'triggers'],
    plan: ['inFlight', 'message'],
    after: ['inFlight', 'triggersAfter'],
  },
  slice: { object: ['slice'] },
  endpoints: { object: ['endpoints'] },
};

/** The stored parts of one Service's state. */
export class StoredParts {
  /** The stored value of each part, by its field. */
  readonly #stored = new Map<string, unknown>();

  /** Records that the field is stored with this value. */
  load(kind: string, field: string, value: unknown): void {
    this.split(kind, field, value, () => {});
  }

  /** Calls `store` with each field to store so that this field, of this kind, has this value; undefined removes. */
  split(kind: string, field: string, value: unknown, store: (field: string, value: unknown) => void): void {
    let rest = value as Value | undefined;
    for (const [part, path] of Object.entries(parts[kind] ?? {})) {
      const name = `${field}:${part}`;
      const found = (rest && valueAt(rest, path)) ?? undefined;
      if (rest && found !== undefined) rest = withValue(rest, path, undefined);
      if (this.#stored.get(name) === found) continue;
      if (found === undefined) this.#stored.delete(name);
      else this.#stored.set(name, found);
      store(name, found);
    }
    store(field, rest);
  }
}

/** Joins the parts of all fields. */
export function joinParts(entries: readonly StoredField[]): readonly StoredField[] {
  const found = new Map<string, [Path, unknown][]>();
  const whole: StoredField[] = [];
  for (const entry of entries) {
    const { key, field, value } = entry;
    const colon = field.lastIndexOf(':');
    const path = colon < 0 ? undefined : parts[kindOf(field)]?.[field.slice(colon + 1)];
    if (path === undefined) {
      whole.push(entry);
      continue;
    }
    const owner = `${key} ${field.slice(0, colon)}`;
    found.set(owner, [...(found.get(owner) ?? []), [path, value]]);
  }
  return whole.map((entry) => {
    const of = found.get(`${entry.key} ${entry.field}`) ?? [];
    return { ...entry, value: of.reduce((value, [path, part]) => withValue(value as Value, path, part), entry.value) };
  });
}

const valueAt = (value: Value, [name, inner]: Path): unknown =>
  inner === undefined ? value[name] : (value[name] as Value | null)?.[inner];

const withValue = (value: Value, [name, inner]: Path, part: unknown): Value => ({
  ...value,
  [name]: inner === undefined ? part : { ...(value[name] as Value), [inner]: part },
});

const kindOf = (field: string): string => /^[^/:]*/.exec(field)?.[0] ?? field;
