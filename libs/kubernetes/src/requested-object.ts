import { asRecord } from '@sluice/platform';
import type { RawObject } from './cluster.ts';
import { invalidAnswerError } from './connection-error.ts';

interface WantedObject {
  readonly kind: string;
  /** Empty for an object without a namespace. */
  readonly namespace: string;
  readonly name: string;
}

/**
 * The object in the successful answer to a request about one object. An answer about another one, for example from a proxy that
 * mixes connections up, says nothing about this one.
 *
 * @throws ApiError
 */
export function requestedObject(server: string, body: unknown, { kind, namespace, name }: WantedObject): RawObject {
  const object = asRecord(body);
  // Responses to writes have metadata only. Metadata decoded from protobuf has no kind.
  const { kind: found = kind, metadata } = object;
  const { name: foundName, namespace: foundNamespace = '' } = asRecord(metadata);
  const isOfKind = found === kind || found === 'PartialObjectMetadata';
  if (!isOfKind || foundNamespace !== namespace || foundName !== name)
    throw invalidAnswerError(server, `not the ${kind} ${namespace === '' ? '' : `${namespace}/`}${name}`);
  return object;
}
