import { editManagedEndpoints } from '../differential/workload/endpoints-steps.ts';
import { deleteService, toggleExternal, toggleSelector } from '../differential/workload/service-steps.ts';
import { weightedSteps } from '../differential/workload/weighted-steps.ts';
import type { Step, WeightedSteps, Workload, WorkloadService } from '../differential/workload/workload.ts';

const ofAny = (make: (workload: Workload, service: WorkloadService) => Step | undefined) => (workload: Workload) => {
  const service = workload.pick(workload.services.values());
  return service && make(workload, service);
};

/** All steps, including those that depend on earlier writes: this run does not compare two clusters. */
export const churn: WeightedSteps = [
  ...weightedSteps,
  [3, ofAny(deleteService)],
  [2, ofAny(toggleSelector)],
  [1, ofAny(toggleExternal)],
  [1, ofAny(editManagedEndpoints)],
];
