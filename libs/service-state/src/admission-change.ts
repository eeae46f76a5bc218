import { type EndpointSlice, type Endpoints, equalMetadata, structurallyEqual } from '@sluice/controllers';

/** What an object differs in from what was written: what carries traffic, only labels and the like, or nothing. */
export type AdmissionChange = 'content' | 'metadata' | undefined;

/**
 * What a mutating webhook has changed in a write. The response names the version that resulted, but only the watch delivers
 * its content: `delivered` and `written` have the same version.
 */
export function admissionChange<T extends Endpoints | EndpointSlice>(written: T, delivered: T): AdmissionChange {
  const { metadata, ...content } = written;
  const { metadata: metadataDelivered, ...contentDelivered } = delivered;
  if (!structurallyEqual(content, contentDelivered)) return 'content';
  return equalMetadata(metadata, metadataDelivered) ? undefined : 'metadata';
}
