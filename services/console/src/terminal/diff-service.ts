import type { PodView, ServiceDetail, SliceView } from '../view/schemas.ts';

/** What of a Service differs between two times. */
export interface ServiceDifference {
  readonly type: 'added' | 'removed' | 'changed';
  /** Such as `Pod cart-1`. */
  readonly what: string;
  /** How it was and how it is, for people. Empty: it did not exist. */
  readonly before: string;
  readonly after: string;
}

/** Compares a Service with how it was before: the Service itself, its Pods, slices and Endpoints. */
export function diffService(before: ServiceDetail, after: ServiceDetail): readonly ServiceDifference[] {
  return [
    ...differences('Service', new Map([['', serviceText(before)]]), new Map([['', serviceText(after)]])),
    ...differences('ready endpoints', new Map([['', readyText(before)]]), new Map([['', readyText(after)]])),
    ...differences('Pod', podTexts(before.pods), podTexts(after.pods)),
    ...differences('EndpointSlice', sliceTexts(before.slices), sliceTexts(after.slices)),
    ...differences('Endpoints', endpointsTexts(before), endpointsTexts(after)),
  ];
}

type Texts = ReadonlyMap<string, string>;

function differences(kind: string, old: Texts, now: Texts): readonly ServiceDifference[] {
  const names = [...new Set([...old.keys(), ...now.keys()])].sort();
  return names.flatMap((name) => {
    const [before = '', after = ''] = [old.get(name), now.get(name)];
    if (before === after) return [];
    const type = before === '' ? 'added' : after === '' ? 'removed' : 'changed';
    return [{ type, what: name === '' ? kind : `${kind} ${name}`, before, after }];
  });
}

function serviceText({ kind }: ServiceDetail): string {
  if (kind === null) return '';
  const pairs = Object.entries(kind.selector ?? {}).map(([key, value]) => `${key}=${value}`);
  const selector = kind.selector === null ? 'no selector' : `selector ${pairs.join(',') || '(empty)'}`;
  return `${kind.type}${kind.headless ? ', headless' : ''}, ${selector}`;
}

const readyText = ({ summary: { ready, endpoints } }: ServiceDetail): string => `${ready} of ${endpoints}`;

/** With the reason of a Pod that gets no traffic. One that is no longer of the Service is as good as gone. */
function podTexts(pods: readonly PodView[]): Texts {
  const known = pods.filter(({ verdict, placements }) => verdict !== 'unknown' || placements.length > 0);
  return new Map(
    known.map(({ pod, verdict, reasons: [reason = ''] }) => [
      pod,
      verdict === 'ready' || reason === '' ? verdict : `${verdict} (${reason})`,
    ]),
  );
}

function sliceTexts(slices: readonly SliceView[]): Texts {
  return new Map(
    slices.map(({ name, endpoints, ports, managedBy }) => {
      const count = `${endpoints.length} ${endpoints.length === 1 ? 'endpoint' : 'endpoints'}`;
      const shown = ports.map(({ name: of, port }) => `${of === '' ? '' : `${of} `}${port ?? 'any port'}`);
      return [name, [count, shown.join(', ') || 'no port', managedBy].filter((text) => text !== '').join('; ')];
    }),
  );
}

function endpointsTexts({ endpoints }: ServiceDetail): Texts {
  if (endpoints === null) return new Map();
  return new Map([['', `${endpoints.ready} ready, ${endpoints.notReady} not ready`]]);
}
