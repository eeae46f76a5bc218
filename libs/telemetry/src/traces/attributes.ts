import type { Controller } from '@sluice/controllers';
import type { PlanId, ServiceKey } from '@sluice/messages';
import type { SpanAttributes, Tracer } from './tracer.ts';

/** By which a Service's traces are found. Names of OpenTelemetry's semantic conventions where they have one. */
export function serviceAttributes({ cluster, namespace, service }: ServiceKey): SpanAttributes {
  return { 'k8s.cluster.uid': cluster, 'k8s.namespace.name': namespace, 'k8s.service.name': service };
}

export function planAttributes(controller: Controller, { epoch, number }: PlanId): SpanAttributes {
  return { 'sluice.controller': controller, 'sluice.plan': `${epoch}/${number}`, 'sluice.epoch': epoch };
}

export interface MessageOperation {
  readonly operation: 'publish' | 'process';
  readonly topic: 'changes' | 'mutations';
  readonly partition: number;
  /** Of the record. */
  readonly id: string;
}

/** Conventions for messaging spans. */
export function messageAttributes(
  { systems }: Tracer,
  { operation, topic, partition, id }: MessageOperation,
): SpanAttributes {
  return {
    'messaging.system.name': systems.messaging,
    'messaging.operation.type': operation === 'publish' ? 'send' : 'process',
    'messaging.operation.name': operation,
    'messaging.destination.name': topic,
    'messaging.destination.partition.id': String(partition),
    'messaging.message.id': id,
  };
}
