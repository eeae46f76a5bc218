export { ElectionTestbed, type Failure, type Takeover } from './election-testbed.ts';
