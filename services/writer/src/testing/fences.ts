/** For suites that compare each with a model. */
export { PlanFence } from '../fencing/plan-fence.ts';
