import type { Configuration } from '@sluice/fleet/configuration';
import { parseServiceKey } from '@sluice/messages';
import { UsageError } from '@sluice/platform/process';
import { allOf, type FoundProblem } from '@sluice/recording/problems';

/** What has changed since the last message that was received. */
export interface ProblemChanges {
  readonly started: readonly FoundProblem[];
  readonly ended: readonly FoundProblem[];
}

/** `nameOf`: the name of a cluster by its identity. */
export type Notify = (changes: ProblemChanges, now: number, nameOf: NameOf) => Promise<void>;
type NameOf = (identity: string) => string;

const timeoutMs = 10_000;
const runbook = 'docs/operations/runbooks/service-problems.md#problems-of-services';

/** The webhook that the configuration names. @throws UsageError if it is no address */
export function configuredWebhook(
  recording: Pick<Configuration['recording'], 'webhookUrl'> | undefined,
): Notify | undefined {
  return recording?.webhookUrl === undefined ? undefined : problemWebhook(recording.webhookUrl);
}

/**
 * Sends problems to an address, in the format of Alertmanager's webhooks, which chat and paging services understand. The address may
 * contain a secret, so no error names it.
 *
 * @throws UsageError if it is no address; what it returns throws Error if the address does not answer with success
 */
export function problemWebhook(url: string): Notify {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw new UsageError(
      'recording.webhookUrl (--problems-webhook-file) is not a URL such as https://hooks.example.com/sluice',
    );
  }
  return async ({ started, ended }, now, nameOf) => {
    const alerts = [
      ...started.map((problem) => alertOf(problem, nameOf, null)),
      ...ended.map((problem) => alertOf(problem, nameOf, now)),
    ];
    const message = {
      ...{ version: '4', groupKey: 'sluice', receiver: 'sluice', status: started.length > 0 ? 'firing' : 'resolved' },
      ...{ groupLabels: {}, commonLabels: {}, commonAnnotations: {}, externalURL: '', truncatedAlerts: 0, alerts },
    };
    const response = await fetch(url, {
      ...{ method: 'POST', redirect: 'error', signal: AbortSignal.timeout(timeoutMs) },
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(message),
    }).catch((error: unknown) => {
      // A message of fetch may contain the address.
      throw new Error(
        error instanceof Error && error.name === 'TimeoutError'
          ? `no answer in ${timeoutMs / 1_000} s`
          : 'no connection',
      );
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`HTTP status ${response.status}`);
  };
}

function alertOf(problem: FoundProblem, nameOf: NameOf, endedAt: number | null) {
  const { key, reason, severity, message, event, from } = problem;
  const { cluster, namespace, service } = parseServiceKey(key);
  const clusterName = nameOf(cluster);
  const where = cluster === allOf ? 'all clusters' : clusterName;
  return {
    status: endedAt === null ? 'firing' : 'resolved',
    labels: { alertname: reason, severity, cluster: clusterName, namespace, service },
    annotations: {
      summary: `${service === allOf ? `cluster ${clusterName}` : `${namespace}/${service} in ${where}`}: ${message}`,
      ...(event !== null && { event }),
      runbook_url: runbook,
    },
    startsAt: new Date(from).toISOString(),
    endsAt: new Date(endedAt ?? 0).toISOString(),
    generatorURL: '',
    fingerprint: `${key} ${reason}`,
  };
}
