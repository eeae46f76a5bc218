import { ApiServerHttp, FakeApiServer } from '@sluice/fake-apiserver';
import { seededRandom } from '@sluice/platform';
import { systemClock } from '@sluice/platform/process';
import { responsesContract } from './harness/responses-contract.ts';

responsesContract('fake API server', async () => {
  const server = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  const http = new ApiServerHttp({ server, clock: systemClock });
  return { url: await http.listen(), stop: () => http.close() };
});
