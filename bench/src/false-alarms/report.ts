import { number, type Table } from '../table.ts';
import type { Finding, GroundTruth } from './ground-truth.ts';

interface Found {
  readonly findings: readonly Finding[];
  readonly truth: GroundTruth;
}

/** How many findings of each reason are true. */
export function findingsTable(title: string, { findings, truth }: Found, days: number): Table {
  const row = (name: string, of: readonly Finding[]) => {
    const right = of.filter((one) => truth.isTrue(one)).length;
    return { cells: [name, `${of.length}`, `${right}`, `${of.length - right}`, number((of.length - right) / days)] };
  };
  const byReason = [...Map.groupBy(findings, ({ reason }) => reason)].sort(([a], [b]) => (a < b ? -1 : 1));
  const rows = [...byReason.map(([reason, of]) => row(reason, of)), row('all', findings)];
  return { title, head: ['reason', 'findings', 'true', 'false', 'false per day'], rows };
}

/** Each false alarm; none if there is none. */
export function falseAlarmTables(falseAlarms: readonly Finding[]): readonly Table[] {
  if (falseAlarms.length === 0) return [];
  const rows = falseAlarms.map(({ service, reason, from, to, message = '' }) => ({
    cells: [new Date(from).toISOString(), `${number((to - from) / 1_000)} s`, service, reason, message],
  }));
  return [{ title: 'False alarms', head: ['from', 'lasted', 'Service', 'reason', 'message'], rows }];
}

/** Which of the incidents were found. */
export function incidentsTable({ findings, truth }: Found): Table {
  const byTitle = Map.groupBy(truth.expected, ({ title }) => title);
  const rows = [...byTitle].map(([title, of]) => {
    return { cells: [title, `${of.length}`, `${of.filter((one) => truth.isFound(one, findings)).length}`] };
  });
  return { title: 'Incidents', head: ['', 'happened', 'found'], rows };
}
