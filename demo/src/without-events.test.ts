import { eventOccurred } from '@sluice/kubernetes';
import { recordingLogger } from '@sluice/platform/testing';
import { expect, test } from 'vitest';
import { withoutEvents } from './without-events.ts';

test('Events are logged at the level debug, everything else as before', () => {
  const logger = recordingLogger();
  for (const quiet of [withoutEvents(logger), withoutEvents(logger).with({ cluster: 'demo' })]) {
    quiet.info(eventOccurred);
    quiet.info('caches synced');
    quiet.warn('slow');
  }
  expect(logger.messages('debug')).toEqual([eventOccurred, eventOccurred]);
  expect(logger.messages('info')).toEqual(['caches synced', 'caches synced']);
  expect(logger.messages('warn')).toEqual(['slow', 'slow']);
});
