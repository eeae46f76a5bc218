import { MalformedObjectError } from '../projections/malformed-object-error.ts';

/** What is wrong with the object that `run` projects. Throws if nothing is. */
export function malformation(run: () => unknown): Partial<MalformedObjectError> {
  try {
    run();
  } catch (error) {
    if (error instanceof MalformedObjectError) {
      const { code, kind, namespace, objectName, path, expected } = error;
      return { code, kind, namespace, objectName, path, expected };
    }
    throw error;
  }
  throw new Error('nothing was thrown');
}
