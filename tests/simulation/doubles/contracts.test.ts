import { busContract, leasesContract, storeContract } from '@sluice/conformance/contracts';
import { VirtualClock } from '@sluice/platform';
import { LossyBus } from './lossy-bus.ts';
import { LossyStore } from './lossy-store.ts';
import type { StoreObserver } from './simulated-store.ts';

/** The doubles pass the contracts of the adapters that they stand for. */
for (const dropsRepeated of [false, true]) {
  const name = `simulated bus ${dropsRepeated ? 'that drops' : 'with'} repeated records`;
  busContract(name, { dedupes: dropsRepeated }, async ({ partitions }) => {
    const bus = new LossyBus(partitions, { dropsRepeated, dropsReleased: true });
    return { connect: async () => bus, dispose: () => bus.close() };
  });
}

const observer: StoreObserver = { claimed() {}, restored() {}, committed() {}, group() {}, replaced() {} };

function lossyStore() {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  return { clock, store: new LossyStore({ clock, observer, fencing: true }) };
}

storeContract('simulated store', async () => lossyStore().store.connect('member').store);
leasesContract('simulated store', 400, async () => {
  const { clock, store } = lossyStore();
  const pass = async (ms: number) => {
    clock.step(clock.now() + ms);
  };
  return { leases: store.connect('member').leases, pass, wipe: async () => store.loseLeases() };
});
