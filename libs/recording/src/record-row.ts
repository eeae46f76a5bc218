import type { DescribedRecord } from './described-record.ts';

/** A record as a line of JSON and as a row of Parquet have it. */
export function rowOf(record: DescribedRecord) {
  const { receivedAt, cluster, service, topic, kind, startsSnapshot, objects, text, traceparent, message } = record;
  return {
    ...{ time: new Date(receivedAt), cluster: cluster.name, clusterUid: cluster.uid },
    ...{ namespace: service?.namespace, service: service?.service, topic, kind, snapshot: startsSnapshot },
    ...{ objects, text, traceparent, message },
  };
}
