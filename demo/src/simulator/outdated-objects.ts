import { asRecord } from '@sluice/platform';
import { type SampleObjects, sampleObjects } from './sample-objects.ts';

const missing = ['search', 'otel-collector'];

/** The objects of a cluster that was not updated with the others: two Services are missing and one has another port. */
export const outdatedObjects: SampleObjects = {
  workloads: sampleObjects.workloads.filter(({ service }) => !missing.includes(service)),
  services: sampleObjects.services
    .filter(({ metadata }) => !missing.includes(String(asRecord(metadata).name)))
    .map((service) =>
      asRecord(service.metadata).name === 'payments-api'
        ? {
            ...service,
            spec: { ...asRecord(service.spec), ports: [{ name: 'https', port: 8443, targetPort: 'https' }] },
          }
        : service,
    ),
};
