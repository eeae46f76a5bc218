/** Which of the rules of a genuine API server the simulated one follows. */
export interface ServerMode {
  /** Refuse objects that break a limit or an immutable field (K3): 422 Invalid. */
  readonly validation: boolean;
  /** Fill in what the client left out: a Service's addresses and families, protocols, a Pod's phase. */
  readonly defaulting: boolean;
  /** Namespaces must exist and not be going away. */
  readonly admission: boolean;
  /** Objects disappear after their owner (K9). */
  readonly garbageCollection: boolean;
  /** Updating missing Endpoints creates them (K7); otherwise it is NotFound, as for slices. */
  readonly createOnUpdate: boolean;
  /** Status is written through its subresource only. */
  readonly statusSubresources: boolean;
  /** A running Pod stays, with a deletionTimestamp, until it is deleted with grace period 0. */
  readonly gracefulDeletion: boolean;
}

/** Everything a genuine server does. */
export const genuineMode: ServerMode = {
  validation: true,
  defaulting: true,
  admission: true,
  garbageCollection: true,
  createOnUpdate: true,
  statusSubresources: true,
  gracefulDeletion: true,
};

/** A plain versioned store: for the replay of recorded scenarios, which bring their objects complete. */
export const bareMode: ServerMode = {
  validation: false,
  defaulting: false,
  admission: false,
  garbageCollection: false,
  createOnUpdate: false,
  statusSubresources: false,
  gracefulDeletion: false,
};

export function modeOf(mode: 'genuine' | 'bare' | Partial<ServerMode> = 'genuine'): ServerMode {
  if (mode === 'genuine') return genuineMode;
  if (mode === 'bare') return bareMode;
  return { ...genuineMode, ...mode };
}
