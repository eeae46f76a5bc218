import type { Pod } from '@sluice/model';

/** Whether a Pod update concerns the Services that keep the Pod. Any update of a terminating Pod does (C12). */
export function podDiffers(old: Pod, now: Pod): boolean {
  if (old.terminating || now.terminating) return true;
  if (old.ready !== now.ready || old.ips.length !== now.ips.length) return true;
  return now.ips.some((ip, i) => ip !== old.ips[i]);
}
