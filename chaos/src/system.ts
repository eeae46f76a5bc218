export { systemClock, systemRandom } from '../../conformance/system-ports.ts';
