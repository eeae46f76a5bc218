/** Bounds of a JSON value that was received from outside. */
export interface JsonLimits {
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
  let values = 0;
  let exceeded: string | undefined;
  const count = (member: unknown, depth: number): boolean => {
    if (++values > maxValues) {
      exceeded = `more than ${maxValues} values`;
      return false;
    }
    return typeof member !== 'object' || member === null || visit(member, depth + 1);
  };
  const visit = (container: object, depth: number): boolean => {
    if (depth > maxDepth) {
      exceeded = `nested deeper than ${maxDepth} levels`;
      return false;
    }
    if (Array.isArray(container)) return container.every((member) => count(member, depth));
    // Every object of a watch passes here, so no list of its members is allocated.
    for (const name in container) if (!count(container[name as keyof typeof container], depth)) return false;
    return true;
  };
  if (typeof value === 'object' && value !== null) visit(value, 1);
  return exceeded;
}
