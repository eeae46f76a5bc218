import type { DescribedRecord } from './described-record.ts';

/** A record as a line of JSON. */
export function jsonLine(record: DescribedRecord): string {
  const { receivedAt, cluster, service, topic, kind, startsSnapshot, objects, text, traceparent, message } = record;
  return JSON.stringify({
    ...{ time: new Date(receivedAt).toISOString(), cluster: cluster.name, clusterUid: cluster.uid },
    ...{ namespace: service?.namespace, service: service?.service },
    ...{ topic, kind, snapshot: startsSnapshot, objects, text, traceparent, message },
  });
}
