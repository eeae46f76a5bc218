export { decisionOrder } from '@sluice/controllers';
