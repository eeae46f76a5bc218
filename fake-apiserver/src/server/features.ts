/** Behaviours of a real API server that can be switched off. */
export interface ServerFeatures {
  /** Reject objects that break a limit or change an immutable field (K3): 422 Invalid. */
  readonly validation: boolean;
  /** Fill in missing fields: a Service's addresses and families, protocols, a Pod's phase. */
  readonly defaulting: boolean;
  /** Reject objects in namespaces that do not exist or are terminating. */
  readonly admission: boolean;
  /** Delete objects after their owner (K9). */
  readonly garbageCollection: boolean;
  /** Updating missing Endpoints creates them (K7); otherwise it fails with NotFound, as for slices. */
  readonly createOnUpdate: boolean;
  /** Write status through its subresource only. */
  readonly statusSubresources: boolean;
  /** Keep a deleted running Pod, with a deletionTimestamp, until it is deleted with grace period 0. */
  readonly gracefulDeletion: boolean;
}

/** The behaviour of a real API server. */
const allFeatures: ServerFeatures = {
  validation: true,
  defaulting: true,
  admission: true,
  garbageCollection: true,
  createOnUpdate: true,
  statusSubresources: true,
  gracefulDeletion: true,
};

/** A plain versioned store, for replaying recorded scenarios whose objects are already complete. */
const storageOnly: ServerFeatures = {
  validation: false,
  defaulting: false,
  admission: false,
  garbageCollection: false,
  createOnUpdate: false,
  statusSubresources: false,
  gracefulDeletion: false,
};

export function featuresOf(features: 'all' | 'storage-only' | Partial<ServerFeatures> = 'all'): ServerFeatures {
  if (features === 'all') return allFeatures;
  if (features === 'storage-only') return storageOnly;
  return { ...allFeatures, ...features };
}
