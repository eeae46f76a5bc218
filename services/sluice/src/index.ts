export { type ReplayResult, type Round, replayScenario } from './replay/replay-scenario.ts';
export { parseScenario } from './replay/scenario.ts';
