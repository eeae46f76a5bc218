import { register } from '@sluice/controllers';
import { readySlicesController } from './controller.ts';

/** For `node --import`: a program with a fourth controller. */
register(readySlicesController);
