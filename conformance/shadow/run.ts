import { KUBERNETES_VERSION } from '@sluice/local';
import { positiveNumber, runCommand, textOr } from '@sluice/program';
import { type JsonObject, objectAt, textAt } from '@sluice/shadow';
import { describe, runInShadow, type ShadowRunResult } from './shadow-run.ts';

const say = (line: string) => void process.stdout.write(`${line}\n`);

const unexplained = ({ differences }: ShadowRunResult): readonly JsonObject[] => differences.get('') ?? [];

const onlyReads = ({ verbs }: ShadowRunResult): boolean =>
  [...verbs.keys()].every((verb) => ['get', 'list', 'watch'].includes(verb));

function summary(result: ShadowRunResult): void {
  const { report, verbs, differences } = result;
  const services = objectAt(report, 'services');
  const lasting = objectAt(report, 'lasting');
  const left = result.remainingDifferences.length;
  say(`Kubernetes ${KUBERNETES_VERSION}, ${Math.round(Number(report.ranMs) / 60_000)} minutes`);
  say('');
  say(`steps            ${result.steps} (${result.refused} requests rejected by the API server)`);
  say(`Services         ${services.total} at the end, ${services.agree} agree, ${services.waiting} waiting`);
  say(`decisions        ${report.decisions}; observed writes of upstream: ${report.writes}`);
  say(`sooner           ${spread(report, 'sooner')}`);
  say(`later            ${spread(report, 'later')}`);
  say(`withdrawn        ${report.withdrawn}`);
  say(`differences      that lasted: ${Number(lasting.explained) + Number(lasting.unexplained)}`);
  for (const [rules, list] of differences) {
    say(`                 ${list.length} ${rules === '' ? 'unexplained' : `explained by ${rules}`}`);
    if (rules !== '') say(`                   ${textAt(list[0]?.explanation, 'why')}`);
  }
  say(`                 ${lasting.resolved} of them corrected by upstream later`);
  say(`checkpoints      ${result.checkpoints}: ${left} differences left after upstream synced everything`);
  say(
    `requests         ${[...verbs].map(([verb, count]) => `${count} ${verb}`).join(', ')}, according to the audit log`,
  );
  for (const difference of [...unexplained(result), ...result.remainingDifferences]) say(`\n${describe(difference)}`);
}

function spread(report: JsonObject, which: 'sooner' | 'later'): string {
  const { count, p50, p99, max } = objectAt(report, which);
  return count === undefined ? 'never' : `${count} times: p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`;
}

await runCommand({
  usage: 'node conformance/shadow/run.ts',
  about: `Runs Sluice in shadow mode beside kube-controller-manager on a real API server under a random workload. Exit status 1 if a
difference is unexplained or Sluice sent anything but reads.
`,
  options: {
    minutes: positiveNumber(30, 'duration'),
    seed: positiveNumber(1, 'seed of the workload'),
    rate: positiveNumber(6, 'steps per second'),
    checkpoint: positiveNumber(120, 'seconds between checkpoints'),
    namespaces: positiveNumber(3, 'namespaces, each with its own workload'),
    'grace-period': textOr('10s', 'D', '--shadow-grace-period of Sluice'),
  },
  async main({ minutes, checkpoint, 'grace-period': gracePeriod, ...given }) {
    const options = { ...given, seconds: minutes * 60, checkpointEverySeconds: checkpoint, gracePeriod };
    const result = await runInShadow(options, (line) => void process.stderr.write(`${line}\n`));
    summary(result);
    return result.status === 0 && unexplained(result).length === 0 && onlyReads(result) ? 0 : 1;
  },
});
