import type { Controller } from './plan.ts';

/** Name of the controller's client and of its ServiceAccount, as in kube-controller-manager (A1). */
export const clientName: Readonly<Record<Controller, string>> = {
  endpoints: 'endpoint-controller',
  endpointslice: 'endpointslice-controller',
  endpointslicemirroring: 'endpointslicemirroring-controller',
};
