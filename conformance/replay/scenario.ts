import { z } from 'zod';

/**
 * A recorded scenario: initial objects, the steps of a user, and faults. The format is that of the vectors
 * (conformance/README.md).
 */
const object = z.looseObject({
  kind: z.enum(['Service', 'Pod', 'Node', 'Endpoints', 'EndpointSlice']),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});

const fault = z.object({
  verb: z.enum(['get', 'list', 'watch', 'create', 'update', 'patch', 'delete']),
  resource: z.string(),
  name: z.string().exactOptional(),
  error: z.enum(['conflict', 'notfound', 'alreadyexists', 'forbidden', 'forbiddenTerminating', 'internal']),
  times: z.number().exactOptional(),
});

const target = z.object({
  namespace: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  addressType: z.string().optional(),
  nth: z.number().optional(),
});

const timing = { run: z.boolean().optional(), forMs: z.number().optional() };
const step = z.discriminatedUnion('op', [
  z.object({ op: z.literal('apply'), object, ...timing }),
  z.object({ op: z.literal('delete'), object, tombstone: z.boolean().optional(), ...timing }),
  z.object({ op: z.literal('userEdit'), target, merge: z.unknown(), ...timing }),
  z.object({ op: z.literal('userDelete'), target, ...timing }),
  z.object({ op: z.literal('fault'), fault, ...timing }),
  z.object({ op: z.enum(['deliver', 'restart', 'resync', 'settle']), ...timing }),
]);

const scenario = z.object({
  name: z.string(),
  controller: z.enum(['endpoints', 'endpointslice', 'mirroring']),
  config: z
    .object({
      maxEndpointsPerSlice: z.number().optional(),
      maxEndpointsPerSubset: z.number().optional(),
      batchPeriodMs: z.number().optional(),
      lag: z.boolean().optional(),
      horizonMs: z.number().optional(),
    })
    .nullish(),
  objects: z.array(object).nullish(),
  faults: z.array(fault).nullish(),
  steps: z.array(step).nullish(),
});

export type Scenario = z.infer<typeof scenario>;
export type Step = z.infer<typeof step>;
export type SliceTarget = z.infer<typeof target>;
export type ScenarioObject = z.infer<typeof object>;

/**
 * Parses one line: a scenario, or a vector that contains one.
 *
 * @throws Error that describes the first invalid field
 */
export function parseScenario(line: string): Scenario {
  const raw: unknown = JSON.parse(line);
  const inner = typeof raw === 'object' && raw !== null && 'scenario' in raw ? raw.scenario : raw;
  const result = scenario.safeParse(inner);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  throw new Error(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`);
}
