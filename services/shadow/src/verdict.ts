import { formatDuration } from '@sluice/platform/process';
import type { ShadowReport } from './report.ts';

export interface Verdict {
  /** inconclusive: there was nothing to compare with. */
  readonly result: 'pass' | 'fail' | 'inconclusive';
  /** `PASS: 0 unexplained differences after 30m, 4812 writes of other controllers compared`. */
  readonly text: string;
}

type Compared = Pick<ShadowReport, 'ranMs' | 'writes' | 'services' | 'lasting'>;

/** What a shadow run has shown. A difference that exists at the end without an explanation makes it fail. */
export function verdictOf({ ranMs, writes, services, lasting }: Compared): Verdict {
  const ran = formatDuration(ranMs);
  const compared = `${count(writes, 'write')} of other controllers compared`;
  if (services.unexplained > 0) {
    const where = `${count(services.unexplained, 'Service')} with unexplained differences`;
    return { result: 'fail', text: `FAIL: ${where} after ${ran}, ${compared}` };
  }
  if (writes === 0) {
    return {
      result: 'inconclusive',
      text: `INCONCLUSIVE: no other controller wrote in ${ran}, so nothing was compared`,
    };
  }
  const explained = lasting.explained === 0 ? '' : `, ${count(lasting.explained, 'difference')} explained`;
  const passing = lasting.unexplained === 0 ? '' : `, ${lasting.unexplained} unexplained for a time`;
  return { result: 'pass', text: `PASS: 0 unexplained differences after ${ran}, ${compared}${explained}${passing}` };
}

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? '' : 's'}`;
