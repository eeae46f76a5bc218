import { describe, expect, test } from 'vitest';
import type { Access } from './permissions.ts';
import { allows, type ResourceRule } from './rules-review.ts';

const rule = (over: Partial<ResourceRule> = {}): ResourceRule => ({
  ...{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'], resourceNames: [] },
  ...over,
});
const getPods: Access = { verb: 'get', group: '', resource: 'pods' };
const getOne: Access = { ...getPods, name: 'one' };
const getLog: Access = { ...getPods, subresource: 'log' };

describe('a rule allows', () => {
  test.each<[string, ResourceRule, Access]>([
    ['the resource that it lists', rule(), getPods],
    ['any name if it lists no resourceNames', rule(), getOne],
    ['a listed resourceName', rule({ resourceNames: ['other', 'one'] }), getOne],
    ['any verb', rule({ verbs: ['*'] }), getPods],
    ['any group', rule({ apiGroups: ['*'] }), getPods],
    ['any resource', rule({ resources: ['*'] }), getPods],
    ['a listed subresource', rule({ resources: ['pods/log'] }), getLog],
    ['a subresource listed with *', rule({ resources: ['*/log'] }), getLog],
    ['any subresource with *', rule({ resources: ['*'] }), getLog],
    ['a single namespace', rule(), { ...getPods, namespace: 'kube-system' }],
  ])('%s', (_, given, access) => expect(allows(given, access)).toBe(true));
});

describe('a rule does not allow', () => {
  test.each<[string, ResourceRule, Access]>([
    ['another verb', rule({ verbs: ['list', 'watch'] }), getPods],
    ['another group', rule({ apiGroups: ['apps', 'discovery.k8s.io'] }), getPods],
    ['another resource', rule({ resources: ['services', 'po'] }), getPods],
    ['another name than its resourceNames', rule({ resourceNames: ['other'] }), getOne],
    ['all objects if it lists resourceNames', rule({ resourceNames: ['one'] }), getPods],
    ['a name with * in resourceNames', rule({ resourceNames: ['*'] }), getOne],
    ['a subresource of a listed resource', rule(), getLog],
    ['the resource of a listed subresource', rule({ resources: ['pods/log', '*/log'] }), getPods],
    ['another subresource', rule({ resources: ['pods/status', '*/status', '*/catalog'] }), getLog],
    ['anything if its lists are empty', rule({ verbs: [], apiGroups: [], resources: [] }), getPods],
  ])('%s', (_, given, access) => expect(allows(given, access)).toBe(false));
});
