import type { Leases } from '@sluice/store';

/**
 * Leases that no process counts as expired by its own clock, so that only the store keeps former owners out. A member that the
 * store does not answer for good has nothing but its clock.
 */
export const withoutExpiry = (leases: Leases, isCutOff: () => boolean): Leases => ({
  heartbeat: (heartbeat) => leases.heartbeat(heartbeat),
  leave: (group, member) => leases.leave(group, member),
  state: (group) => leases.state(group),
  watch: (group, onChange) => leases.watch(group, onChange),
  keepAlive: () => ({
    get renewedAt() {
      return isCutOff() ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    },
    ready: Promise.resolve(),
    hold() {},
    alive() {},
    stop() {},
  }),
});
