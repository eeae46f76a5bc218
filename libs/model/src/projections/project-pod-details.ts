import type { PodDetails } from '../objects.ts';
import type { Fields } from './fields.ts';
import { fields, inParentheses, list, number, text } from './fields-for-people.ts';

/** Containers and hooks that are described at most. */
const maxContainers = 20;

/** Projects what explains the changes of a core/v1 Pod. Fields for people never make a Pod malformed: a wrong one is left out. */
export function projectPodDetails(raw: unknown): PodDetails {
  const { metadata, spec, status } = fields(raw);
  const containers = list(fields(spec).containers);
  const unscheduled = unscheduledOf(list(fields(status).conditions));
  return {
    owner: ownerOf(list(fields(metadata).ownerReferences)),
    disruption: disruptionOf(list(fields(status).conditions)),
    gracePeriodSeconds: number(fields(spec).terminationGracePeriodSeconds),
    preStop: containers.slice(0, maxContainers).map(preStopOf),
    containers: list(fields(status).containerStatuses).slice(0, maxContainers).flatMap(describeContainer),
    ...(unscheduled !== '' && { unscheduled }),
  };
}

/** The details of a Pod that is not as it should be; undefined of others, whose details explain nothing. */
export function projectPodReasons(raw: unknown): PodDetails | undefined {
  const { conditions, containerStatuses } = fields(fields(raw).status);
  const isAsItShouldBe =
    !some(containerStatuses, isExplained) && !some(conditions, (one) => isDisruption(one) || isUnscheduled(one));
  return isAsItShouldBe ? undefined : projectPodDetails(raw);
}

/** Most Pods are as they should be, so nothing is allocated. */
const some = (value: unknown, test: (one: Fields) => boolean): boolean =>
  Array.isArray(value) && value.some((one) => test(fields(one)));

/** The controller that owns the Pod. */
function ownerOf(references: readonly Fields[]): string {
  const owner = references.find(({ controller }) => controller === true);
  return owner === undefined ? '' : `${text(owner.kind)} ${text(owner.name)}`;
}

const isDisruption = ({ type, status }: Fields): boolean => type === 'DisruptionTarget' && status === 'True';
const isUnscheduled = ({ type, status }: Fields): boolean => type === 'PodScheduled' && status === 'False';

function disruptionOf(conditions: readonly Fields[]): string {
  const condition = conditions.find(isDisruption);
  return condition === undefined ? '' : text(condition.reason);
}

function unscheduledOf(conditions: readonly Fields[]): string {
  const { reason, message } = conditions.find(isUnscheduled) ?? {};
  return [text(reason), text(message)].filter((one) => one !== '').join(': ');
}

function preStopOf({ lifecycle }: Fields): string {
  const hook = fields(fields(lifecycle).preStop);
  if (hook.sleep !== undefined && hook.sleep !== null) return `sleep ${number(fields(hook.sleep).seconds)} s`;
  return ['exec', 'httpGet', 'tcpSocket'].find((kind) => hook[kind] !== undefined && hook[kind] !== null) ?? '';
}

/** Whether a container is not ready or was restarted. */
const isExplained = ({ ready, restartCount }: Fields): boolean => ready !== true || number(restartCount) > 0;

/** `app: waiting (CrashLoopBackOff), 3 restarts, last exit code 137 (OOMKilled)`; nothing for a container as it should be. */
function describeContainer({ name, ready, restartCount, state, lastState }: Fields): readonly string[] {
  const restarts = number(restartCount);
  if (!isExplained({ ready, restartCount })) return [];
  const { waiting, terminated } = fields(state);
  const last = fields(fields(lastState).terminated);
  const parts = [
    waiting
      ? `waiting${inParentheses(fields(waiting).reason)}`
      : terminated
        ? exitText('terminated, exit code', fields(terminated))
        : ready === true
          ? 'ready'
          : 'running, not ready',
    ...(restarts === 0 ? [] : [`${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`]),
    ...(last.exitCode === undefined ? [] : [exitText('last exit code', last)]),
  ];
  return [`${text(name)}: ${parts.join(', ')}`];
}

const exitText = (what: string, { exitCode, reason }: Fields): string =>
  `${what} ${number(exitCode)}${inParentheses(reason)}`;
