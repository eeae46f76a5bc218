/** Well-known labels, annotations and values that the controllers read or write. */

export const serviceNameLabel = 'kubernetes.io/service-name';
export const managedByLabel = 'endpointslice.kubernetes.io/managed-by';
export const headlessLabel = 'service.kubernetes.io/headless';
/** Labels of every EndpointSlice of the EndpointSlice controller, beside those of its Service and the reserved ones. */
export const addedSliceLabels: Readonly<Record<string, string>> = {};
export const skipMirrorLabel = 'endpointslice.kubernetes.io/skip-mirror';
export const endpointsManagedByLabel = 'endpoints.kubernetes.io/managed-by';
export const zoneLabel = 'topology.kubernetes.io/zone';
export const controlPlaneLabels: readonly string[] = [
  'node-role.kubernetes.io/control-plane',
  'node-role.kubernetes.io/master',
];

export const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time';
export const overCapacityAnnotation = 'endpoints.kubernetes.io/over-capacity';
export const leaderAnnotation = 'control-plane.alpha.kubernetes.io/leader';
export const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';
/** The older hint annotation. It takes precedence (F1). */
export const topologyAwareHintsAnnotation = 'service.kubernetes.io/topology-aware-hints';
export const topologyModeAnnotation = 'service.kubernetes.io/topology-mode';

export const endpointController = 'endpoint-controller';
export const endpointSliceController = 'endpointslice-controller.k8s.io';
export const endpointSliceMirroringController = 'endpointslicemirroring-controller.k8s.io';
