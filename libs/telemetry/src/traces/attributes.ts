import type { Controller } from '@sluice/controllers';
import type { PlanId, ServiceKey } from '@sluice/messages';
import {
  ATTR_K8S_CLUSTER_UID,
  ATTR_K8S_NAMESPACE_NAME,
  ATTR_K8S_SERVICE_NAME,
  ATTR_MESSAGING_DESTINATION_NAME,
  ATTR_MESSAGING_DESTINATION_PARTITION_ID,
  ATTR_MESSAGING_MESSAGE_ID,
  ATTR_MESSAGING_OPERATION_NAME,
  ATTR_MESSAGING_OPERATION_TYPE,
  ATTR_MESSAGING_SYSTEM_NAME,
  MESSAGING_OPERATION_TYPE_VALUE_PROCESS,
  MESSAGING_OPERATION_TYPE_VALUE_SEND,
} from './semantic-conventions.ts';
import type { SpanAttributes, Tracer } from './tracer.ts';

/** The Service that a span belongs to. Searches use these attributes. */
export function serviceAttributes({ cluster, namespace, service }: ServiceKey): SpanAttributes {
  return {
    [ATTR_K8S_CLUSTER_UID]: cluster,
    [ATTR_K8S_NAMESPACE_NAME]: namespace,
    [ATTR_K8S_SERVICE_NAME]: service,
  };
}

export function planAttributes(controller: Controller, { epoch, number }: PlanId): SpanAttributes {
  return { 'sluice.controller': controller, 'sluice.plan': `${epoch}/${number}`, 'sluice.fencing_token': epoch };
}

/** Marks the spans of a trace that is recorded because of how it ended. The root sampler always samples these. */
export const lateAttributes = { 'sluice.recorded': 'afterwards' } as const;

export interface MessageOperation {
  readonly operation: 'publish' | 'process';
  readonly topic: 'changes' | 'mutations';
  readonly partition: number;
  /** Id of the record. */
  readonly id: string;
}

/** The attributes of a messaging span. */
export function messageAttributes(
  { systems }: Tracer,
  { operation, topic, partition, id }: MessageOperation,
): SpanAttributes {
  return {
    [ATTR_MESSAGING_SYSTEM_NAME]: systems.messaging,
    [ATTR_MESSAGING_OPERATION_TYPE]:
      operation === 'publish' ? MESSAGING_OPERATION_TYPE_VALUE_SEND : MESSAGING_OPERATION_TYPE_VALUE_PROCESS,
    [ATTR_MESSAGING_OPERATION_NAME]: operation,
    [ATTR_MESSAGING_DESTINATION_NAME]: topic,
    [ATTR_MESSAGING_DESTINATION_PARTITION_ID]: String(partition),
    [ATTR_MESSAGING_MESSAGE_ID]: id,
  };
}
