import type { LogicalServiceDetail } from '../../src/view/schemas.ts';

/** `40 % of the ready endpoints; each other gets 1.7 × its load` */
export function lossText({ share, loadFactor }: LogicalServiceDetail['losses'][number]): string {
  if (loadFactor === null) return 'all ready endpoints; nothing serves it';
  const percent = share < 0.01 ? '<1' : String(Math.round(share * 100));
  return `${percent} % of the ready endpoints; each other gets ${factorText(loadFactor)} × its load`;
}

/** Small factors have two digits behind the point, so that a small loss is not `1.0 ×`. */
const factorText = (factor: number): string => factor.toFixed(factor < 1.1 ? 2 : factor < 10 ? 1 : 0);

/** `zone-a 2/2, zone-b 1/2` */
export const zonesText = (zones: LogicalServiceDetail['clusters'][number]['zones']): string =>
  zones.map(({ zone, ready, all }) => `${zone || 'unknown zone'} ${ready}/${all}`).join(', ') || '–';
