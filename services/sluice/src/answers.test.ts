import { ApiServerHttp, FakeApiServer } from '@sluice/fake-apiserver';
import { seededRandom } from '@sluice/runtime';
import { systemClock } from './system/clock.ts';
import { answersContract } from './testing/answers-contract.ts';

answersContract('simulated API server', async () => {
  const server = new FakeApiServer({ clock: systemClock, random: seededRandom(1) });
  const http = new ApiServerHttp({ server, clock: systemClock });
  return { url: await http.listen(), stop: () => http.close() };
});
