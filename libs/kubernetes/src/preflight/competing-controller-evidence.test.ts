import { expect, test } from 'vitest';
import { ApiError, type ApiRequest, type ApiResponse, type Connection } from '../index.ts';
import { assessCompetingController } from './competing-controller.ts';
import { findCompetingControllerEvidence } from './competing-controller-evidence.ts';

const now = Date.parse('2026-01-01T00:00:00Z');

/** An API server without kube-controller-manager, whose answers to some paths are forbidden. */
function connection(...forbidden: readonly string[]): Connection {
  const request = async ({ path }: ApiRequest): Promise<ApiResponse> => {
    if (forbidden.some((part) => path.includes(part)))
      throw new ApiError('forbidden', { kind: 'terminal', status: 403, reason: 'Forbidden' });
    if (path.includes('/leases/'))
      throw new ApiError('not found', { kind: 'conflict', status: 404, reason: 'NotFound' });
    return { status: 200, headers: { date: new Date(now).toUTCString() }, body: { items: [] } };
  };
  return { request } as Partial<Connection> as Connection;
}

const find = (...forbidden: readonly string[]) =>
  findCompetingControllerEvidence(
    { connection: connection(...forbidden), ownManager: 'sluice', now },
    new AbortController().signal,
  );

test('readable lists without writes show that nobody writes', async () => {
  expect(assessCompetingController(await find()).status).toBe('inactive');
});

test.each<[string, string]>([
  ['/endpointslices', 'grant list endpointslices.discovery.k8s.io with "kubectl apply -f infra/kubernetes/rbac.yaml"'],
  ['/endpoints?', 'grant list endpoints with'],
])('a forbidden list of %s does not count as "no writes"', async (path, advice) => {
  expect(assessCompetingController(await find(path))).toMatchObject({
    status: 'unknown',
    why: expect.stringContaining(advice),
  });
});

test('a lease that may not be read leaves the question open', async () => {
  expect(assessCompetingController(await find('/leases/')).status).toBe('unknown');
});

test.each(['component', 'k8s-app'])(
  'static Pods with the label %s are found, with flags, Node and start',
  async (label) => {
    const pod = {
      metadata: { name: 'kube-controller-manager-node-1' },
      spec: {
        nodeName: 'node-1',
        containers: [{ command: ['kube-controller-manager', '--controllers=*', '--leader-elect=false'] }],
      },
      status: {
        phase: 'Running',
        containerStatuses: [{ state: { running: { startedAt: '2026-01-01T00:00:00Z' } } }],
      },
    };
    const empty = connection();
    const request = async (sent: ApiRequest): Promise<ApiResponse> => {
      const answer = await empty.request(sent);
      return sent.path.includes(`${label}%3D`) ? { ...answer, body: { items: [pod] } } : answer;
    };
    const search = { connection: { request } as Partial<Connection> as Connection, ownManager: 'sluice', now };
    expect((await findCompetingControllerEvidence(search, new AbortController().signal)).pods).toEqual([
      {
        ...{ name: 'kube-controller-manager-node-1', node: 'node-1', startedAt: now },
        ...{ enabled: true, controllers: '*', leads: true },
      },
    ]);
  },
);

test('upstream controllers that Sluice does not run are no evidence', async () => {
  const slice = (managedBy: string) => ({
    metadata: {
      ...{ namespace: 'shop', name: 'web-1', labels: { 'endpointslice.kubernetes.io/managed-by': managedBy } },
      managedFields: [{ manager: 'kube-controller-manager', time: '2025-12-31T23:59:59Z' }],
    },
  });
  const manager = {
    metadata: { name: 'kube-controller-manager-node-1' },
    spec: { containers: [{ command: ['kube-controller-manager', '--controllers=*,-endpointslice-controller'] }] },
    status: { phase: 'Running' },
  };
  const empty = connection();
  const request = async (sent: ApiRequest): Promise<ApiResponse> => {
    const answer = await empty.request(sent);
    if (sent.path.includes('/pods')) return { ...answer, body: { items: [manager] } };
    if (!sent.path.includes('/endpointslices')) return answer;
    return { ...answer, body: { items: [slice('endpointslicemirroring-controller.k8s.io')] } };
  };
  const search = { connection: { request } as Partial<Connection> as Connection, ownManager: 'sluice', now };
  const assess = async (...controllers: readonly string[]) =>
    assessCompetingController(
      await findCompetingControllerEvidence({ ...search, controllers }, new AbortController().signal),
    ).status;
  expect(await assess('endpointslice')).toBe('inactive');
  expect(await assess('endpointslice', 'endpoints')).toBe('active');
});

test('the last write of Sluice is known', async () => {
  const times = ['2025-12-31T23:58:00Z', '2025-12-31T23:59:00Z'];
  const slice = {
    metadata: {
      ...{ name: 'web-1', namespace: 'shop' },
      labels: { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' },
      managedFields: [
        ...times.map((time) => ({ manager: 'sluice', time })),
        { manager: 'kube-controller-manager', time: '2025-12-31T23:59:30Z' },
      ],
    },
  };
  const empty = connection();
  const request = async (sent: ApiRequest): Promise<ApiResponse> => {
    const answer = await empty.request(sent);
    return sent.path.includes('/endpointslices') ? { ...answer, body: { items: [slice] } } : answer;
  };
  const search = { connection: { request } as Partial<Connection> as Connection, ownManager: 'sluice', now };
  const evidence = await findCompetingControllerEvidence(search, new AbortController().signal);
  expect(evidence).toMatchObject({ ownWriteAt: now - 60_000, writes: [{ manager: 'kube-controller-manager' }] });
  expect(await find()).not.toHaveProperty('ownWriteAt');
});
