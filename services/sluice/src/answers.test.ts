import { seededRandom } from '@sluice/runtime';
import { ApiServerHttp, SimulatedApiServer } from '@sluice/simulation';
import { systemClock } from './system/clock.ts';
import { answersContract } from './testing/answers-contract.ts';

answersContract('simulated API server', async () => {
  const server = new SimulatedApiServer({ clock: systemClock, random: seededRandom(1) });
  const http = new ApiServerHttp({ server, clock: systemClock });
  return { url: await http.listen(), stop: () => http.close() };
});
