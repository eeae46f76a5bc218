export * from './demo-cluster.ts';
export * from './demo-clusters.ts';
export type { Demo, SimulationOptions } from './simulated-server.ts';
export * from './simulator/activity.ts';
export { ClusterSimulator, type ClusterSimulatorOptions } from './simulator/cluster-simulator.ts';
export type { SimulatorApi } from './simulator/simulator-api.ts';
