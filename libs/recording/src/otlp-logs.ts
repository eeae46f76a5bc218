import { traceOf } from '@sluice/messages';
import type { DescribedRecord } from './described-record.ts';

/** `opentelemetry.proto.common.v1.AnyValue` in JSON. */
type AnyValue =
  | { readonly stringValue: string }
  | { readonly arrayValue: { readonly values: readonly { readonly stringValue: string }[] } };

interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

/** SEVERITY_NUMBER_INFO */
const info = { severityNumber: 9, severityText: 'INFO' } as const;

/** An ExportLogsServiceRequest of OTLP in JSON with a log record for each of these. `version`: of the program. */
export function otlpLogs(records: readonly DescribedRecord[], version: string): string {
  const byCluster = Map.groupBy(records, ({ cluster }) => cluster.uid);
  return JSON.stringify({
    resourceLogs: [...byCluster].map(([uid, ofCluster]) => ({
      resource: {
        attributes: attributes({ 'k8s.cluster.name': ofCluster[0]?.cluster.name, 'k8s.cluster.uid': uid }),
      },
      scopeLogs: [{ scope: { name: 'sluice', version }, logRecords: ofCluster.map(logRecord) }],
    })),
  });
}

function logRecord({ receivedAt, service, topic, kind, objects, text, traceparent }: DescribedRecord) {
  // Beyond the safe integers. A recording is precise to the microsecond.
  const time = `${Math.round(receivedAt * 1_000)}000`;
  return {
    ...{ timeUnixNano: time, observedTimeUnixNano: time, ...info, eventName: `sluice.${kind}` },
    body: { stringValue: text },
    attributes: attributes({
      ...{ 'k8s.namespace.name': service?.namespace, 'k8s.service.name': service?.service },
      ...{ 'k8s.pod.name': onlyPod(objects), 'sluice.topic': topic, 'sluice.objects': objects },
    }),
    ...traceFields(traceparent),
  };
}

const attributes = (values: Readonly<Record<string, string | readonly string[] | undefined>>): readonly KeyValue[] =>
  Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value: anyValue(value) }]));

const anyValue = (value: string | readonly string[]): AnyValue =>
  typeof value === 'string'
    ? { stringValue: value }
    : { arrayValue: { values: value.map((one) => ({ stringValue: one })) } };

/** The Pod, if the record is about one alone. */
function onlyPod(objects: readonly string[]): string | undefined {
  const [first, ...others] = objects;
  return others.length === 0 && first?.startsWith('pod/') ? first.slice('pod/'.length) : undefined;
}

/** In hexadecimal, unlike other bytes in the JSON of protobuf. */
function traceFields(traceparent: string | undefined) {
  const context = traceparent === undefined ? undefined : traceOf({ traceparent });
  if (context === undefined) return {};
  const [, traceId, spanId, flags = ''] = context.split('-');
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}
