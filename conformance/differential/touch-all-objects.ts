import { setTimeout as sleep } from 'node:timers/promises';
import { isApiError } from '@sluice/kubernetes';
import { type JsonObject, objectAt, textAt, triggerTimeAnnotation } from '@sluice/shadow';
import type { ApiClient } from './api-client.ts';
import { nodeObject } from './objects.ts';

/** Time for upstream to recount Nodes. */
const topologyMs = 200;

/**
 * Makes the upstream controllers sync every object, so that they correct what they missed. `touched` must differ each
 * time.
 */
export async function touchAllObjects(client: ApiClient, touched: string): Promise<void> {
  // They read the CPUs of Nodes only when a Node is added or removed (E3). A control-plane Node counts for nothing else
  // (F2).
  const labels = { 'node-role.kubernetes.io/control-plane': '' };
  await client.create('nodes', nodeObject({ name: `touch-${touched}`, zone: '', labels }));
  await client.delete({ resource: 'nodes', name: `touch-${touched}` });
  await sleep(topologyMs);
  const [services, endpoints] = await Promise.all([client.list('services'), client.list('endpoints')]);
  const withSelector = new Set(services.filter((s) => 'selector' in objectAt(s, 'spec')).map(fullName));
  const annotate = async (resource: 'services' | 'endpoints', object: JsonObject, key: string) => {
    const { namespace, name } = reference(object);
    try {
      await client.patch({ resource, namespace, name }, { metadata: { annotations: { [key]: touched } } });
    } catch (error) {
      // Endpoints without a Service may have been deleted meanwhile.
      if (!isApiError(error) || error.status !== 404) throw error;
    }
  };
  await Promise.all([
    ...services.map((service) => annotate('services', service, 'sluice.test/touched')),
    // On custom Endpoints, this annotation is neither mirrored nor compared.
    ...endpoints
      .filter((object) => !withSelector.has(fullName(object)))
      .map((object) => annotate('endpoints', object, triggerTimeAnnotation)),
  ]);
}

function reference({ metadata }: JsonObject) {
  return { namespace: textAt(metadata, 'namespace'), name: textAt(metadata, 'name') };
}

function fullName(object: JsonObject): string {
  const { namespace, name } = reference(object);
  return `${namespace}/${name}`;
}
