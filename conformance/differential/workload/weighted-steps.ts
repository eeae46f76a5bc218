import { changeEndpoints, createEndpoints, deleteEndpoints, userSlice } from './endpoints-steps.ts';
import { changeNode, createNode, deleteNode } from './node-steps.ts';
import * as pods from './pod-steps.ts';
import { changeService, createService } from './service-steps.ts';
import type { WeightedSteps } from './workload.ts';

/** Steps that are possible at any time, with their weights. */
export const weightedSteps: WeightedSteps = [
  [10, createService],
  [14, changeService],
  [14, pods.createPod],
  [3, pods.createManyPods],
  [20, pods.flipReadiness],
  [6, pods.changeAddresses],
  [3, pods.finishPod],
  [8, pods.movePod],
  [5, pods.terminatePod],
  [10, pods.deletePod],
  [5, createNode],
  [3, changeNode],
  [2, deleteNode],
  [6, createEndpoints],
  [8, changeEndpoints],
  [3, deleteEndpoints],
  [3, userSlice],
];
