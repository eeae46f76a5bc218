import { KUBERNETES_VERSION } from '@sluice/local';
import { optionsGiven, positive, runProgram } from '@sluice/program';
import { type JsonObject, objectAt, textAt } from '@sluice/shadow';
import { describe, runInShadow, type ShadowRunResult } from './shadow-run.ts';

const help = `Shadow run: Sluice in the shadow of kube-controller-manager on a genuine API server, under a random workload.

  node conformance/shadow/run.ts [options]

  --minutes N    how long (30)
  --seed N       of the workload (1)
  --rate N       steps a second (6)
  --rest N       seconds between points of rest (120)
  --worlds N     namespaces with a workload each (3)
  --settle D     --shadow-grace-period of Sluice (10s)
  --help

The exit status is 1 if there was a difference that nothing explains, or if Sluice sent anything but reads.
`;

async function main(): Promise<number> {
  const values = optionsGiven({ minutes: '30', seed: '1', rate: '6', rest: '120', worlds: '3', settle: '10s' }, help);
  if (values === undefined) return 0;
  const options = {
    seed: positive('seed', values.seed),
    seconds: positive('minutes', values.minutes) * 60,
    rate: positive('rate', values.rate),
    restEverySeconds: positive('rest', values.rest),
    worlds: positive('worlds', values.worlds),
    settle: values.settle,
  };
  const result = await runInShadow(options, (line) => void process.stderr.write(`${line}\n`));
  summary(result);
  return result.status === 0 && unexplained(result).length === 0 && onlyReads(result) ? 0 : 1;
}

const say = (line: string) => void process.stdout.write(`${line}\n`);

const unexplained = ({ differences }: ShadowRunResult): readonly JsonObject[] => differences.get('') ?? [];

const onlyReads = ({ verbs }: ShadowRunResult): boolean =>
  [...verbs.keys()].every((verb) => ['get', 'list', 'watch'].includes(verb));

function summary(result: ShadowRunResult): void {
  const { report, verbs, differences } = result;
  const services = objectAt(report, 'services');
  const lasting = objectAt(report, 'lasting');
  const left = result.differencesAtRest.length;
  say(`Kubernetes ${KUBERNETES_VERSION}, ${Math.round(Number(report.ranMs) / 60_000)} minutes`);
  say('');
  say(`steps            ${result.steps} (${result.refused} requests refused by the API server)`);
  say(`Services         ${services.total} at the end, ${services.agree} agree, ${services.waiting} waiting`);
  say(`decisions        ${report.decisions}; the genuine controllers were seen to write ${report.writes} times`);
  say(`sooner           ${spread(report, 'sooner')}`);
  say(`later            ${spread(report, 'later')}`);
  say(`withdrawn        ${report.withdrawn}`);
  say(`differences      that lasted: ${Number(lasting.explained) + Number(lasting.unexplained)}`);
  for (const [rules, list] of differences) {
    say(`                 ${list.length} ${rules === '' ? 'unexplained' : `explained by ${rules}`}`);
    if (rules !== '') say(`                   ${textAt(list[0]?.explanation, 'why')}`);
  }
  say(`                 ${lasting.resolved} of them were put right by the genuine controllers later`);
  say(`points of rest   ${result.restPoints}: ${left} differences left after the genuine controllers looked once more`);
  say(
    `requests         ${[...verbs].map(([verb, count]) => `${count} ${verb}`).join(', ')}: as the API server logged them`,
  );
  for (const difference of [...unexplained(result), ...result.differencesAtRest]) say(`\n${describe(difference)}`);
}

function spread(report: JsonObject, which: 'sooner' | 'later'): string {
  const { count, p50, p99, max } = objectAt(report, which);
  return count === undefined ? 'never' : `${count} times: p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`;
}

await runProgram(main);
