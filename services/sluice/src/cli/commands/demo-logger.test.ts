import { eventOccurred } from '@sluice/kubernetes';
import { recordingLogger } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import { demoLogger } from './demo-logger.ts';

test('Kubernetes Events are logged at debug, everything else as it is', () => {
  const logger = recordingLogger();
  const demo = demoLogger(logger).with({ cluster: 'c' });
  demo.info(eventOccurred, { reason: 'r' });
  demo.info('cluster responding again');
  expect(logger.lines).toMatchObject([
    { level: 'debug', message: eventOccurred },
    { level: 'info', message: 'cluster responding again' },
  ]);
});
