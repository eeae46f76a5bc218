import { describe, expect, it } from 'vitest';
import { newServer, refusal, service, slice } from '../testing/fixtures.ts';
import { maxEvents } from './event-expiry.ts';

const conflictText = (resource: string) =>
  `Operation cannot be fulfilled on ${resource} "x": the object has been modified; ` +
  'please apply your changes to the latest version and try again';

describe('K1: generated names', () => {
  const cases = [
    { base: 'web-', prefix: 'web-' },
    { base: `${'a'.repeat(60)}-`, prefix: 'a'.repeat(58) },
    { base: `${'a'.repeat(57)}-`, prefix: `${'a'.repeat(57)}-` },
  ];
  it.each(cases)('$base', ({ base, prefix }) => {
    const { server } = newServer();
    const { name: _name, ...metadata } = { ...slice('').metadata, generateName: base };
    const created = server.create('endpointslices', { ...slice(''), metadata });
    expect(created.metadata.name).toMatch(new RegExp(`^${prefix}[bcdfghjklmnpqrstvwxz2456789]{5}$`));
    expect(created.metadata.generateName).toBe(base);
  });

  it('are generated only if there is no name; generateName is stored', () => {
    const { server } = newServer();
    const created = server.create('endpointslices', slice('x', { metadata: { generateName: 'web-' } }));
    expect(created.metadata).toMatchObject({ name: 'x', generateName: 'web-' });
  });

  it('are regenerated a few times if they exist', () => {
    const { server } = newServer({ random: { next: () => 0 } });
    const object = { ...slice(''), metadata: { namespace: 'default', generateName: 'web-' } };
    server.create('endpointslices', object);
    expect(refusal(() => server.create('endpointslices', object))).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message:
        'endpointslices.discovery.k8s.io "web-bbbbb" already exists, ' +
        'the server was not able to generate a unique name for the object',
    });
  });
});

describe('K2: unconditional updates', () => {
  it.each(['endpoints', 'endpointslices'] as const)('%s without resourceVersion', (resource) => {
    const { server } = newServer();
    const object = resource === 'endpoints' ? { metadata: { name: 'x', namespace: 'default' } } : slice('x');
    const created = server.create(resource, object);
    const labelled = { ...object, metadata: { ...object.metadata, labels: { a: 'b' } } };
    const updated = server.update(resource, labelled);
    expect(updated.metadata).toMatchObject({ uid: created.metadata.uid, labels: { a: 'b' } });
    expect(Number(updated.metadata.resourceVersion)).toBeGreaterThan(Number(created.metadata.resourceVersion));
  });

  it.each([
    ['endpoints', 'endpoints'],
    ['endpointslices', 'endpointslices.discovery.k8s.io'],
  ] as const)('%s with an old resourceVersion conflict', (resource, text) => {
    const { server } = newServer();
    const object = resource === 'endpoints' ? { metadata: { name: 'x', namespace: 'default' } } : slice('x');
    const created = server.create(resource, object);
    server.patch(resource, 'default', 'x', { metadata: { labels: { a: 'b' } } });
    expect(refusal(() => server.update(resource, created))).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: conflictText(text),
    });
  });

  it('with another uid conflict', () => {
    const { server } = newServer();
    server.create('endpointslices', slice('x'));
    const other = slice('x', { metadata: { uid: 'other' } });
    expect(refusal(() => server.update('endpointslices', other))).toMatchObject({ code: 409, reason: 'Conflict' });
  });
});

describe('K3: limits of slices', () => {
  const endpoint = (i: number) => ({ addresses: [`10.1.${i >> 8}.${i & 255}`] });
  const hints = (n: number, as: string) => ({
    addresses: ['10.1.0.1'],
    hints: { [as]: Array.from({ length: n }, (_, i) => ({ name: `z${i}` })) },
  });
  const many = Array.from({ length: 101 }, (_, i) => `10.1.0.${i}`);
  const cases: readonly [string, Record<string, unknown>, string][] = [
    ['endpoints', { endpoints: Array.from({ length: 1001 }, (_, i) => endpoint(i)) }, 'endpoints: Too many: 1001'],
    ['ports', { ports: Array.from({ length: 20_001 }, (_, i) => ({ name: `p${i}` })) }, 'ports: Too many: 20001'],
    ['addresses', { endpoints: [{ addresses: many }] }, 'endpoints[0].addresses: Too many: 101'],
    ['no address', { endpoints: [{ addresses: [] }] }, 'endpoints[0].addresses: Required value'],
    ['zone hints', { endpoints: [hints(9, 'forZones')] }, 'endpoints[0].hints.forZones: Too many: 9'],
    ['node hints', { endpoints: [hints(9, 'forNodes')] }, 'endpoints[0].hints.forNodes: Too many: 9'],
    ['family', { endpoints: [{ addresses: ['fd00::1'] }] }, 'endpoints[0].addresses[0]: Invalid value: "fd00::1"'],
    ['loopback', { endpoints: [{ addresses: ['127.0.0.1'] }] }, 'may not be in the loopback range'],
    ['port names', { ports: [{ name: 'a' }, { name: 'a' }] }, 'ports[1].name: Duplicate value: "a"'],
    ['label', { metadata: { labels: { a: 'not valid' } } }, 'metadata.labels: Invalid value: "not valid"'],
    ['name', { metadata: { name: 'No_Name' } }, 'metadata.name: Invalid value: "No_Name"'],
  ];
  it.each(cases)('%s', (_, more, text) => {
    const { server } = newServer();
    const status = refusal(() => server.create('endpointslices', slice('x', more)));
    expect(status).toMatchObject({ code: 422, reason: 'Invalid' });
    expect(status.message).toMatch(/^EndpointSlice\.discovery\.k8s\.io ".*" is invalid: /);
    expect(status.message).toContain(text);
    expect(status.details?.causes?.length).toBeGreaterThan(0);
  });

  it('accepts exactly the maximum', () => {
    const { server } = newServer();
    const endpoints = [...Array.from({ length: 999 }, (_, i) => endpoint(i)), hints(8, 'forZones')];
    expect(() => server.create('endpointslices', slice('x', { endpoints }))).not.toThrow();
  });

  it('keeps the address type', () => {
    const { server } = newServer();
    server.create('endpointslices', slice('x', { endpoints: null }));
    const update = slice('x', { addressType: 'IPv6', endpoints: null });
    expect(refusal(() => server.update('endpointslices', update)).message).toBe(
      'EndpointSlice.discovery.k8s.io "x" is invalid: addressType: Invalid value: "IPv6": field is immutable',
    );
  });
});

describe('K4, K5: generation, and updates without changes', () => {
  const cases: readonly [string, Record<string, unknown>, 'same' | 'version' | 'generation'][] = [
    ['nothing', {}, 'same'],
    ['null for an absent list', { metadata: { annotations: null } }, 'same'],
    ['annotation', { metadata: { annotations: { a: 'b' } } }, 'version'],
    ['label', { metadata: { labels: { a: 'b' } } }, 'generation'],
    ['endpoint', { endpoints: [{ addresses: ['10.1.0.2'] }] }, 'generation'],
    ['no endpoints', { endpoints: null }, 'generation'],
  ];
  it.each(cases)('%s', (_, more, changes) => {
    const { server } = newServer();
    const created = server.create('endpointslices', slice('x'));
    expect(created.metadata.generation).toBe(1);
    const updated = server.update('endpointslices', slice('x', more));
    expect(updated.metadata.generation).toBe(changes === 'generation' ? 2 : 1);
    expect(updated.metadata.resourceVersion === created.metadata.resourceVersion).toBe(changes === 'same');
    const events = server.watch('endpointslices', { resourceVersion: created.metadata.resourceVersion }).take();
    expect(events).toHaveLength(changes === 'same' ? 0 : 1);
  });
});

describe('K6, K7: Endpoints', () => {
  const subsets = [
    {
      addresses: [{ ip: '10.1.0.9' }, { ip: '10.1.0.1' }],
      ports: [
        { name: 'b', port: 2 },
        { name: 'a', port: 1 },
      ],
    },
  ];
  const endpoints = { metadata: { name: 'x', namespace: 'default' }, subsets };

  it('are stored unsorted and not repacked', () => {
    const { server } = newServer();
    const created = server.create('endpoints', endpoints);
    expect(created).toMatchObject({ subsets });
  });

  it('are created by an update, unlike slices', () => {
    const { server } = newServer();
    expect(server.update('endpoints', endpoints).metadata.name).toBe('x');
    expect(refusal(() => server.update('endpointslices', slice('x')))).toMatchObject({
      code: 404,
      message: 'endpointslices.discovery.k8s.io "x" not found',
    });
  });

  it('are rejected without addresses', () => {
    const { server } = newServer();
    const status = refusal(() => server.create('endpoints', { ...endpoints, subsets: [{ ports: [{ port: 1 }] }] }));
    expect(status.message).toContain('subsets[0]: Required value: must specify `addresses` or `notReadyAddresses`');
  });
});

describe('K8: deprecated topology', () => {
  const endpoints = [{ addresses: ['10.1.0.1'], deprecatedTopology: { a: 'b' } }];
  it('is kept on unchanged endpoints and dropped from changed ones', () => {
    const { server } = newServer();
    server.put('endpointslices', slice('x', { endpoints }));
    const labelled = server.update('endpointslices', slice('x', { endpoints, metadata: { labels: { a: 'b' } } }));
    expect(labelled).toMatchObject({ endpoints });
    const changed = [{ addresses: ['10.1.0.2'], deprecatedTopology: { a: 'b' } }];
    const written = server.update('endpointslices', slice('x', { endpoints: changed }));
    expect(written.endpoints).toEqual([{ addresses: ['10.1.0.2'] }]);
  });
});

describe('K9: owners', () => {
  const owned = (uid: string) => ({
    metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Service', name: 'web', uid }] },
  });

  it('are garbage-collected with their slices after a delay', () => {
    const { server, clock } = newServer();
    const { uid } = server.create('services', service('web')).metadata;
    server.create('endpointslices', slice('x', owned(uid)));
    server.create('endpointslices', slice('free'));
    server.delete('services', 'default', 'web');
    expect(server.count('endpointslices')).toBe(2);
    while (clock.step());
    expect(server.list('endpointslices').items.map((item) => item.metadata.name)).toEqual(['free']);
  });

  it('that never existed or have another uid do not keep a slice', () => {
    const { server, clock } = newServer();
    server.create('endpointslices', slice('x', owned('gone')));
    while (clock.step());
    expect(server.count('endpointslices')).toBe(0);
  });

  it('that a restore brings back keep new slices', () => {
    const { server, clock } = newServer();
    const { uid } = server.create('services', service('web')).metadata;
    const backup = server.backup();
    server.delete('services', 'default', 'web');
    server.restore(backup);
    server.create('endpointslices', slice('x', owned(uid)));
    while (clock.step());
    expect(server.count('endpointslices')).toBe(1);
  });

  it('of kinds that the server does not store count as existing', () => {
    const { server, clock } = newServer();
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'u' }];
    server.create('pods', { metadata: { name: 'p', namespace: 'default', ownerReferences } });
    while (clock.step());
    expect(server.count('pods')).toBe(1);
  });

  it('are ignored by a storage-only server', () => {
    const { server, clock } = newServer({ features: 'storage-only' });
    server.create('endpointslices', slice('x', owned('gone')));
    expect(clock.step()).toBe(false);
  });
});

describe('deletion', () => {
  it.each([
    [{ uid: 'other' }, 'the UID in the precondition (other) does not match the UID in record'],
    [{ resourceVersion: '1' }, 'the ResourceVersion in the precondition (1) does not match the ResourceVersion'],
  ])('with precondition %j', (preconditions, text) => {
    const { server } = newServer();
    server.create('endpointslices', slice('x'));
    const status = refusal(() => server.delete('endpointslices', 'default', 'x', preconditions));
    expect(status).toMatchObject({ code: 409, reason: 'Conflict' });
    expect(status.message).toContain(text);
  });

  it('of a missing object is NotFound', () => {
    const { server } = newServer();
    expect(refusal(() => server.delete('endpoints', 'default', 'x')).message).toBe('endpoints "x" not found');
  });

  it('of a running Pod completes with a second one, with grace period 0', () => {
    const { server } = newServer();
    server.create('pods', { metadata: { name: 'p', namespace: 'default' }, spec: { nodeName: 'n1' } });
    expect(server.delete('pods', 'default', 'p').metadata).toMatchObject({
      deletionTimestamp: '2026-05-01T10:00:30Z',
      deletionGracePeriodSeconds: 30,
    });
    const marked = server.get('pods', 'default', 'p').metadata.resourceVersion;
    expect(server.delete('pods', 'default', 'p').metadata.resourceVersion).toBe(marked);
    server.delete('pods', 'default', 'p', { gracePeriodSeconds: 0 });
    expect(server.count('pods')).toBe(0);
  });

  it('waits for finalizers', () => {
    const { server } = newServer();
    server.create('services', { ...service('web'), metadata: { name: 'web', finalizers: ['example.com/hold'] } });
    expect(server.delete('services', 'default', 'web').metadata.deletionTimestamp).toBeDefined();
    server.patch('services', 'default', 'web', { metadata: { finalizers: null } });
    expect(server.count('services')).toBe(0);
  });
});

describe('namespaces', () => {
  it('that do not exist reject creates', () => {
    const { server } = newServer();
    const status = refusal(() => server.create('endpoints', { metadata: { name: 'x', namespace: 'nowhere' } }));
    expect(status).toMatchObject({ code: 404, message: 'namespaces "nowhere" not found' });
  });

  it('that are terminating reject creates and are deleted with their contents', () => {
    const { server, clock } = newServer();
    server.create('namespaces', { metadata: { name: 'shop' } });
    server.create('endpoints', { metadata: { name: 'x', namespace: 'shop' } });
    expect(server.delete('namespaces', '', 'shop')).toMatchObject({ status: { phase: 'Terminating' } });
    const status = refusal(() => server.create('endpoints', { metadata: { name: 'y', namespace: 'shop' } }));
    expect(status).toMatchObject({ code: 403, reason: 'Forbidden' });
    expect(status.message).toBe(
      'endpoints "y" is forbidden: unable to create new content in namespace shop because it is being terminated',
    );
    expect(status.details?.causes).toEqual([
      { reason: 'NamespaceTerminating', message: 'namespace shop is being terminated', field: 'metadata.namespace' },
    ]);
    while (clock.step());
    expect(server.count('endpoints')).toBe(0);
    expect(refusal(() => server.get('namespaces', '', 'shop')).code).toBe(404);
  });

  it('that were being deleted at the time of a backup are gone after its restore', () => {
    const { server, clock } = newServer();
    server.create('namespaces', { metadata: { name: 'shop' } });
    server.create('endpoints', { metadata: { name: 'x', namespace: 'shop' } });
    server.delete('namespaces', '', 'shop');
    const backup = server.backup();
    clock.step(clock.now() + 1_000);
    server.restore(backup);
    expect(server.count('endpoints')).toBe(1);
    clock.step(clock.now() + 1_000);
    expect(refusal(() => server.get('namespaces', '', 'shop')).code).toBe(404);
    expect(server.count('endpoints')).toBe(0);
  });

  it('keep their objects if a restore undoes their deletion', () => {
    const { server, clock } = newServer();
    server.create('namespaces', { metadata: { name: 'shop' } });
    server.create('endpoints', { metadata: { name: 'x', namespace: 'shop' } });
    const backup = server.backup();
    server.delete('namespaces', '', 'shop');
    server.restore(backup);
    clock.step(clock.now() + 1_000);
    expect(server.get('endpoints', 'shop', 'x').metadata.name).toBe('x');
  });
});

describe('Services', () => {
  const cases: readonly [string, Record<string, unknown>, Record<string, unknown>][] = [
    ['plain', {}, { type: 'ClusterIP', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' }],
    ['dual stack', { ipFamilyPolicy: 'PreferDualStack' }, { ipFamilies: ['IPv4', 'IPv6'] }],
    ['IPv6 first', { ipFamilies: ['IPv6'], ipFamilyPolicy: 'RequireDualStack' }, { ipFamilies: ['IPv6', 'IPv4'] }],
    ['headless', { clusterIP: 'None' }, { clusterIPs: ['None'], ipFamilies: ['IPv4'] }],
    ['headless, no selector', { clusterIP: 'None', selector: null }, { ipFamilies: ['IPv4', 'IPv6'] }],
  ];
  it.each(cases)('%s', (_, spec, expected) => {
    const { server } = newServer();
    const created = server.create('services', service('web', spec));
    expect(created.spec).toMatchObject({ ...expected, ports: [{ port: 80, protocol: 'TCP', targetPort: 80 }] });
  });

  it('keep their addresses across updates, and get a second one for a second family', () => {
    const { server } = newServer();
    const created = server.create('services', service('web'));
    const updated = server.update('services', service('web', { ipFamilyPolicy: 'PreferDualStack' }));
    const { clusterIP } = created.spec as { clusterIP: string };
    expect(clusterIP).toMatch(/^10\.96\./);
    expect(updated.spec).toMatchObject({
      clusterIP,
      clusterIPs: [clusterIP, expect.stringMatching(/^fd00:10:96::/)],
    });
  });

  it('do not change or share their address', () => {
    const { server } = newServer();
    server.create('services', service('web', { clusterIP: '10.96.9.9' }));
    const other = refusal(() => server.create('services', service('api', { clusterIP: '10.96.9.9' })));
    expect(other.message).toContain('provided IP is already allocated');
    const moved = refusal(() => server.update('services', service('web', { clusterIP: '10.96.9.8' })));
    expect(moved.message).toContain('may not change once set');
    server.delete('services', 'default', 'web');
    expect(() => server.create('services', service('api', { clusterIP: '10.96.9.9' }))).not.toThrow();
  });
});

describe('status', () => {
  it('of a Pod is written only through its subresource', () => {
    const { server } = newServer();
    const pod = { metadata: { name: 'p', namespace: 'default' }, spec: {}, status: { phase: 'Running' } };
    expect(server.create('pods', pod)).toMatchObject({ status: { phase: 'Pending' } });
    expect(server.update('pods', pod)).toMatchObject({ status: { phase: 'Pending' } });
    const patch = { metadata: { labels: { a: 'b' } }, status: { phase: 'Running', podIP: '10.1.0.1' } };
    const patched = server.patch('pods', 'default', 'p', patch, { subresource: 'status' });
    expect(patched).toMatchObject({ status: { phase: 'Running', podIP: '10.1.0.1' } });
    expect(patched.metadata.labels).toBeUndefined();
  });

  it('merges conditions by type in a strategic patch', () => {
    const { server } = newServer();
    const conditions = [
      { type: 'Ready', status: 'True' },
      { type: 'DiskPressure', status: 'False' },
    ];
    server.create('nodes', { metadata: { name: 'n1' }, status: { conditions } });
    const patch = { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } };
    const patched = server.patch('nodes', '', 'n1', patch, { subresource: 'status', type: 'strategic' });
    expect(patched.status).toEqual({ conditions: [{ type: 'Ready', status: 'Unknown' }, conditions[1]] });
  });
});

describe('the store', () => {
  it('holds immutable copies', () => {
    const { server } = newServer();
    const labels = { a: 'b' };
    server.create('endpointslices', slice('x', { metadata: { labels } }));
    labels.a = 'changed';
    expect(server.get('endpointslices', 'default', 'x').metadata.labels).toEqual({ a: 'b' });
  });

  it('has kube-system with a uid from the start', () => {
    const { server } = newServer();
    expect(server.identity).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('drops the oldest Events above a limit', () => {
    const { server } = newServer();
    for (let i = 0; i <= maxEvents; i++) server.create('events', { metadata: { name: `e${i}` }, message: 'x' });
    expect(server.count('events')).toBeLessThanOrEqual(maxEvents);
    expect(refusal(() => server.get('events', 'default', 'e0')).code).toBe(404);
    expect(() => server.get('events', 'default', `e${maxEvents}`)).not.toThrow();
  });

  it('stores objects unchanged when storage-only', () => {
    const { server } = newServer({ features: 'storage-only' });
    const object = { metadata: { name: 'Odd_', namespace: 'nowhere', uid: 'u1', resourceVersion: '7' }, spec: {} };
    expect(server.put('services', object)).toMatchObject({ metadata: { uid: 'u1' }, spec: {} });
    expect(server.put('services', { ...object, metadata: { name: 'Odd_', namespace: 'nowhere' } }).metadata.uid).toBe(
      'u1',
    );
    expect(refusal(() => server.update('endpoints', object)).code).toBe(404);
    expect(server.put('endpointslices', slice('s')).metadata.generation).toBe(1);
    expect(server.put('endpointslices', slice('s', { ports: [] })).metadata.generation).toBe(2);
  });
});
