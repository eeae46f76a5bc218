import { z } from 'zod';

/** What the routes of the API are asked with. */
export const text = z.string().min(1).max(512);
export const time = z.coerce.number().int().min(0).describe('milliseconds since the Unix epoch');
export const none = z.object({});
export const ofService = z.object({ cluster: text.describe('identity or name'), namespace: text, service: text });
export const at = z.object({ at: time.optional().describe('show the state at this time; left out: now') });
export const pastOf = z.object({
  since: time.optional(),
  until: time.optional(),
  pod: text.optional().describe('only entries of this Pod'),
});
