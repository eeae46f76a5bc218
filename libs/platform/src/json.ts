/** An object in parsed JSON or YAML; neither array nor scalar. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns `value` if it is an object and an empty object otherwise, to read optional fields of unvalidated input. */
export function asRecord(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

/** Returns `value` if it is a string and the empty string otherwise. */
export function asString(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Bounds of a JSON value that was received from outside. */
interface JsonLimits {
  /** Levels of nested objects and arrays. Recursive code, such as JSON.stringify, exhausts the stack above some thousands. */
  readonly maxDepth: number;
  /** Objects, arrays, strings, numbers, booleans and nulls. */
  readonly maxValues: number;
}

/** Limits of one object of the API server. etcd stores no object with more values; upstream types nest about 20 levels. */
export const objectLimits: JsonLimits = { maxDepth: 64, maxValues: 1_000_000 };

/** Limits of one message, which carries several objects: anything within `objectLimits` can be sent. */
export const messageLimits: JsonLimits = { maxDepth: 96, maxValues: 8_000_000 };

/** Returns which limit a JSON value exceeds, in words, and undefined if it exceeds none. */
export function exceededLimit(value: unknown, { maxDepth, maxValues }: JsonLimits): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const values = countMembers(value, maxDepth, maxValues);
  if (values === tooDeep) return `nested deeper than ${maxDepth} levels`;
  return values > maxValues ? `more than ${maxValues} values` : undefined;
}

const tooDeep = -1;

/** Number of values in the container, nested ones included. Stops above `max`. Every object of a watch passes here. */
function countMembers(container: object, levels: number, max: number): number {
  if (levels === 0) return tooDeep;
  let count = 0;
  if (Array.isArray(container)) {
    for (const member of container) {
      count = withMember(count, member, levels, max);
      if (count === tooDeep || count > max) return count;
    }
    return count;
  }
  // No list of the members is allocated.
  for (const name in container) {
    count = withMember(count, container[name as keyof typeof container], levels, max);
    if (count === tooDeep || count > max) return count;
  }
  return count;
}

function withMember(count: number, member: unknown, levels: number, max: number): number {
  if (typeof member !== 'object' || member === null) return count + 1;
  const members = countMembers(member, levels - 1, max - count - 1);
  return members === tooDeep ? tooDeep : count + 1 + members;
}
