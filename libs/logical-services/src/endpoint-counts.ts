import type { EndpointSlice } from '@sluice/model';
import type { ServiceState } from '@sluice/service-state';

/** Endpoints of a Service. A Pod counts once, also if two slices have it. */
export interface EndpointCounts {
  /** Get traffic. */
  readonly ready: number;
  /** Could get traffic if no endpoint is ready: those that are ready, and terminating ones whose Pod is still ready. */
  readonly serving: number;
  readonly terminating: number;
  readonly all: number;
}

export const noEndpoints: EndpointCounts = { ready: 0, serving: 0, terminating: 0, all: 0 };

export const addCounts = (a: EndpointCounts, b: EndpointCounts): EndpointCounts => ({
  ready: a.ready + b.ready,
  serving: a.serving + b.serving,
  terminating: a.terminating + b.terminating,
  all: a.all + b.all,
});

/** Endpoints by zone; the empty name stands for an unknown zone. `state`: of reduced Changes. */
export function countByZone({ service, slices }: ServiceState): ReadonlyMap<string, EndpointCounts> {
  const needsPorts = (service?.service?.ports.length ?? 0) > 0;
  const found = new Map<string, Found>();
  for (const { slice } of slices.values()) addEndpoints(found, slice, needsPorts && slice.ports?.length === 0);
  const zones = new Map<string, EndpointCounts>();
  for (const { zone, ready, serving, terminating } of found.values()) {
    const one = { ready: Number(ready), serving: Number(serving), terminating: Number(terminating), all: 1 };
    zones.set(zone, addCounts(zones.get(zone) ?? noEndpoints, one));
  }
  return zones;
}

interface Found {
  readonly zone: string;
  readonly ready: boolean;
  readonly serving: boolean;
  readonly terminating: boolean;
}

/** `isUnreachable`: the slice has no port although the Service has, so proxies send nothing to its endpoints. */
function addEndpoints(found: Map<string, Found>, { endpoints }: EndpointSlice, isUnreachable: boolean): void {
  for (const { addresses, conditions, zone = '' } of endpoints ?? []) {
    const [identity = ''] = addresses;
    const { ready, serving, terminating } = conditions ?? {};
    const other = found.get(identity);
    found.set(identity, {
      zone: other?.zone || zone,
      ready: other?.ready || (!isUnreachable && ready === true),
      serving: other?.serving || (!isUnreachable && serving === true),
      // Two slices may show the Pod at different times of its life; ready wins.
      terminating: (other?.terminating ?? true) && terminating === true,
    });
  }
}
