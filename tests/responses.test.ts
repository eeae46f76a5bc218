import { ApiServerHttp, FakeApiServer } from '@sluice/fake-apiserver';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { responsesContract } from './harness/responses-contract.ts';

responsesContract('fake API server', async () => {
  // A namespace that terminates lasts for longer than the tests.
  const server = new FakeApiServer({ clock: systemClock, random: seededRandom(1), collectionDelayMs: 3_600_000 });
  const http = new ApiServerHttp({ server, clock: systemClock });
  return { url: await http.listen(), stop: () => http.close() };
});
