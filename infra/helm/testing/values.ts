/** Values files that users may write. Each is rendered, applied to a real API server and checked with `sluice config`. */
export type Values = Readonly<Record<string, unknown>>;

const fleet = { bus: { servers: 'tls://nats.nats.svc:4222' }, store: { url: 'rediss://redis.redis.svc:6379' } };
const digest = `sha256:${'0123456789abcdef'.repeat(4)}`;

export const validValues: Readonly<Record<string, Values>> = {
  'the defaults': {},
  'the network of the host': { hostNetwork: true, tolerations: [{ operator: 'Exists' }] },
  'a recording': { mode: 'observe', metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } } },
  'a large recording': {
    ...{ mode: 'observe', caConfigMap: 'sluice-ca' },
    recording: { size: '20Gi', storageClass: 'fast', maxBytes: '16Gi', retention: '720h' },
  },
  'a recording in an existing claim': { mode: 'observe', recording: { existingClaim: 'recording' } },
  'a recording that is lost with the Pod': { mode: 'observe', recording: { persistent: false } },
  'rules for problems': {
    mode: 'observe',
    problems: [{ reason: 'LateChange', namespaces: ['dev', 'preview-*'], severity: 'off', for: '2m' }],
  },
  'readers with tokens of their own': { mode: 'shadow', console: { authorizationMode: 'cluster' } },
  'readers of a fleet': { mode: 'workers', ...fleet, console: { authorizationMode: 'cluster' } },
  'readers of many clusters': {
    ...{ mode: 'roles', ...fleet, console: { authorizationMode: 'cluster' } },
    clusterSecrets: { selector: 'sluice.io/cluster' },
  },
  'the console at another port': { settings: { SLUICE_CONSOLE_BIND_ADDRESS: '127.0.0.1:8080' } },
  'shadow mode': { mode: 'shadow' },
  workers: { mode: 'workers', ...fleet, caConfigMap: 'sluice-ca' },
  'a fleet that is recorded': { mode: 'workers', ...fleet, caConfigMap: 'sluice-ca', recording: { enabled: true } },
  'roles with their own users': {
    ...{ mode: 'roles', ...fleet, caConfigMap: 'sluice-ca' },
    components: Object.fromEntries(
      ['watcher', 'reconciler', 'writer', 'console'].map((role) => [role, { existingSecret: `sluice-${role}` }]),
    ),
  },
  'workers with Kafka': { mode: 'workers', ...fleet, bus: { servers: 'kafka://kafka.kafka.svc:9093' } },
  'many clusters': { mode: 'roles', ...fleet, clusterSecrets: { selector: 'sluice.io/cluster' } },
  autoscaling: { mode: 'workers', ...fleet, autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 8 } },
  monitoring: {
    metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true }, dashboard: { enabled: true } },
  },
  'an image by digest from a private registry': {
    image: { repository: 'registry.example.com:5000/platform/sluice', digest },
    imagePullSecrets: [{ name: 'registry' }],
  },
  'settings, labels and placement': {
    ...{ mode: 'roles', ...fleet, settings: { SLUICE_LOG_LEVEL: 'debug', SLUICE_TRACES_RATIO: 0.5 } },
    ...{ nodeSelector: { 'kubernetes.io/os': 'linux' }, podAnnotations: { 'example.com/team': 'platform' } },
    ...{ topologySpread: { topologyKey: 'topology.kubernetes.io/zone' }, priorityClassName: '' },
  },
  'one controller': { controllers: ['endpointslice-controller'] },
  'nothing that needs permissions in the cluster': {
    ...{ rbac: { create: false }, serviceAccount: { create: false }, flowSchema: { enabled: false } },
    ...{ networkPolicy: { enabled: false }, podDisruptionBudget: { enabled: false } },
  },
};

/** Values that the schema rejects, by the place that its error names. */
export const invalidValues: readonly (readonly [place: string, values: Values])[] = [
  ['/metrics/prometheusRule/runbookBaseUrl', { metrics: { prometheusRule: { runbookBaseUrl: 'docs.example.com' } } }],
  ['/mode', { mode: 'fleet' }],
  ['/networkPolicy/monitoringNamespaces/0', { networkPolicy: { monitoringNamespaces: ['Monitoring'] } }],
  ['/bus/servers', { mode: 'workers', store: fleet.store }],
  ['/store/url', { mode: 'roles', bus: fleet.bus }],
  ['/bus/servers', { mode: 'workers', ...fleet, bus: { servers: 'nats.nats.svc' } }],
  ['/store/url', { mode: 'workers', ...fleet, store: { url: 'http://redis' } }],
  ['/image/tag', { image: { tag: 'latest' } }],
  ['/image/repository', { image: { repository: 'sluice:1.0' } }],
  ['/image/digest', { image: { digest: 'sha256:123' } }],
  ['/image/pullPolicy', { image: { pullPolicy: 'Sometimes' } }],
  ['/components/worker/replicas', { components: { worker: { replicas: -1 } } }],
  ['/components/observe/replicas', { components: { observe: { replicas: 2 } } }],
  ['/components/shadow/replicas', { components: { shadow: { replicas: 2 } } }],
  ['/components/all-in-one/replicas', { components: { 'all-in-one': { replicas: '2' } } }],
  ['/components', { components: { workers: { replicas: 2 } } }],
  [
    '/components/writer/resources/limits/memory',
    { components: { writer: { resources: { limits: { memory: 'lots' } } } } },
  ],
  ['/settings', { settings: { LOG_LEVEL: 'debug' } }],
  ['/settings/SLUICE_BUS_PASSWORD', { settings: { SLUICE_BUS_PASSWORD: 'secret' } }],
  ['/controllers/0', { controllers: ['*,-endpoints-controller'] }],
  [
    '/settings/SLUICE_CONTROLLERS_ENABLED',
    { controllers: ['endpointslice-controller'], settings: { SLUICE_CONTROLLERS_ENABLED: '*' } },
  ],
  ['/clusterSecrets/selector', { mode: 'workers', ...fleet, clusterSecrets: { selector: 'sluice.io/cluster' } }],
  ['/hostNetwork', { mode: 'workers', ...fleet, hostNetwork: true }],
  ['/hostNetwork', { mode: 'observe', hostNetwork: true }],
  ['/recording/maxBytes', { recording: { maxBytes: '1G' } }],
  ['/recording/retention', { recording: { retention: '7d' } }],
  ['/recording/size', { recording: { size: 'large' } }],
  ['/recording/existingClaim', { recording: { existingClaim: 'Recording' } }],
  ['/autoscaling/maxReplicas', { autoscaling: { maxReplicas: 0 } }],
  ['/metrics/serviceMonitor/interval', { metrics: { serviceMonitor: { interval: 'often' } } }],
  ['/problems/0/reason', { problems: [{ severity: 'info' }] }],
  ['/problems/0/for', { problems: [{ reason: 'LateChange', for: '2 minutes' }] }],
  ['/console/authorizationMode', { console: { authorizationMode: 'rbac' } }],
  ['/replicaCount', { replicaCount: 3 }],
  ['/caConfigMap', { caConfigMap: 'Sluice_CA' }],
];
