import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { JAEGER_VERSION, KUBERNETES_VERSION, NATS_VERSION, PROMETHEUS_VERSION } from './binaries.ts';

const read = (path: string) => readFileSync(fileURLToPath(new URL(path, import.meta.url)), 'utf8');

describe('KUBERNETES_VERSION', () => {
  it('equals the version in go.mod', () => {
    const goMod = read('../go.mod');
    expect(/k8s\.io\/kubernetes (v\S+)/.exec(goMod)?.[1]).toBe(KUBERNETES_VERSION);
    const staging = [...goMod.matchAll(/^\tk8s\.io\/\S+ => k8s\.io\/\S+ (v\S+)$/gm)].map(([, version]) => version);
    expect(new Set(staging)).toEqual(new Set([KUBERNETES_VERSION.replace('v1.', 'v0.')]));
  });

  it('equals the version in docker-compose.yml, as does the etcd version', () => {
    const compose = read('../../../docker-compose.yml');
    const images = [...compose.matchAll(/registry\.k8s\.io\/kube\S+:(v\S+)/g)].map(([, version]) => version);
    expect(new Set(images)).toEqual(new Set([KUBERNETES_VERSION]));
    const etcd = /go\.etcd\.io\/etcd\/server\/v3 v(\S+)/.exec(read('../go.mod'))?.[1];
    expect(compose).toContain(`registry.k8s.io/etcd:${etcd}-`);
  });
});

it('NATS_VERSION equals the version in nats/go.mod', () => {
  expect(/nats-io\/nats-server\/v2 (v\S+)/.exec(read('../nats/go.mod'))?.[1]).toBe(NATS_VERSION);
});

it('JAEGER_VERSION equals the version in jaeger/go.mod', () => {
  expect(/jaegertracing\/jaeger (v\S+)/.exec(read('../jaeger/go.mod'))?.[1]).toBe(JAEGER_VERSION);
});

it('PROMETHEUS_VERSION equals the version in prometheus/go.mod, where 3.13.5 is v0.313.5', () => {
  const [, minor, patch] = /prometheus\/prometheus v0\.3(\d+)\.(\d+)/.exec(read('../prometheus/go.mod')) ?? [];
  expect(`v3.${Number(minor)}.${patch}`).toBe(PROMETHEUS_VERSION);
});
