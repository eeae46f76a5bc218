/**
 * Real servers on loopback, without containers, for tests, benchmarks and the demo: etcd, kube-apiserver,
 * kube-controller-manager, nats-server, Kafka, Jaeger and Prometheus in pinned versions, and the distribution's Redis.
 */
export {
  type Binaries,
  ensureBinaries,
  ensureHelm,
  ensureKrew,
  ensureNatsServer,
  ensurePrometheus,
  KUBERNETES_VERSION,
  kubernetesUnderTest,
  VERSION_VARIABLE,
} from './binaries.ts';
export { cacheDirectory } from './cache-directory.ts';
export { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './control-plane.ts';
export type { Identity } from './credentials.ts';
export { freePorts } from './free-ports.ts';
export { type Jaeger, type JaegerOptions, startJaeger } from './jaeger.ts';
export { type Kafka, type KafkaOptions, startKafka, startKafkaCluster } from './kafka.ts';
export { ensureKafkaJars, KAFKA_VERSION, run as runProgram } from './kafka-jars.ts';
export {
  CONTROLLERS,
  type KubeControllerManagerOptions,
  startKubeControllerManager,
} from './kube-controller-manager.ts';
export { kubectl, RBAC_FILE } from './kubectl.ts';
export { LocalError } from './local-error.ts';
export { type Nats, type NatsOptions, startNats } from './nats.ts';
export { makeServingCertificate, type ServingCertificate } from './openssl.ts';
export { type Prometheus, type PrometheusOptions, startPrometheus } from './prometheus.ts';
export { type RedisCluster, startRedisCluster } from './redis/redis-cluster.ts';
export { type RedisSentinel, type RedisSentinelOptions, startRedisSentinel } from './redis/redis-sentinel.ts';
export { type RedisServer, type RedisServerOptions, startRedis } from './redis/redis-server.ts';
export type { RunningServer } from './running-server.ts';
export { type ServerCommand, ServerProcess } from './server-process.ts';
export { type Direction, TcpProxy } from './tcp-proxy.ts';
