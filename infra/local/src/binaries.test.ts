import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  HELM_VERSION,
  JAEGER_VERSION,
  KREW_VERSION,
  KUBERNETES_VERSION,
  NATS_VERSION,
  PROMETHEUS_VERSION,
} from './binaries.ts';

const read = (path: string) => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');
const goMod = read('../go.mod');
const compose = read('../../../docker-compose.yml');
/** The version of a module in go.mod. */
const pinned = (module: string) => new RegExp(`^\\t${module} (v\\S+)`, 'm').exec(goMod)?.[1];

describe('KUBERNETES_VERSION', () => {
  it('equals the version in go.mod', () => {
    expect(/k8s\.io\/kubernetes (v\S+)/.exec(goMod)?.[1]).toBe(KUBERNETES_VERSION);
    const staging = [...goMod.matchAll(/^\tk8s\.io\/\S+ => k8s\.io\/\S+ (v\S+)$/gm)].map(([, version]) => version);
    expect(new Set(staging)).toEqual(new Set([KUBERNETES_VERSION.replace('v1.', 'v0.')]));
  });

  it('equals the version in docker-compose.yml, as does the etcd version', () => {
    const images = [...compose.matchAll(/registry\.k8s\.io\/kube\S+:(v\S+)/g)].map(([, version]) => version);
    expect(new Set(images)).toEqual(new Set([KUBERNETES_VERSION]));
    expect(compose).toContain(`registry.k8s.io/etcd:${pinned('go.etcd.io/etcd/server/v3')?.slice(1)}-`);
  });
});

it.each([
  ['github.com/nats-io/nats-server/v2', NATS_VERSION],
  ['helm.sh/helm/v4', HELM_VERSION],
  // Prometheus 3.13.5 is v0.313.5.
  ['github.com/prometheus/prometheus', PROMETHEUS_VERSION.replace(/^v3\.(\d+)\./, 'v0.3$1.')],
])('go.mod has %s %s', (module, version) => {
  expect(pinned(module)).toBe(version);
});

it.each([
  ['jaeger', 'jaegertracing/jaeger', JAEGER_VERSION],
  ['krew', 'sigs.k8s.io/krew', KREW_VERSION],
])('%s/go.mod has the version of %s that is built', (folder, module, version) => {
  expect(new RegExp(`${module} (v\\S+)`).exec(read(`../${folder}/go.mod`))?.[1]).toBe(version);
});
