import { describe, expect, test } from 'vitest';
import type { Access } from './access.ts';
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
    ['what it names', rule(), getPods],
    ['whatever name, where it names none', rule(), getOne],
    ['the name that it names', rule({ resourceNames: ['other', 'one'] }), getOne],
    ['any verb', rule({ verbs: ['*'] }), getPods],
    ['any group', rule({ apiGroups: ['*'] }), getPods],
    ['any resource', rule({ resources: ['*'] }), getPods],
    ['a subresource that it names', rule({ resources: ['pods/log'] }), getLog],
    ['that subresource of any resource', rule({ resources: ['*/log'] }), getLog],
    ['any resource and subresource', rule({ resources: ['*'] }), getLog],
    ['in one namespace what it allows in all', rule(), { ...getPods, namespace: 'kube-system' }],
  ])('%s', (_, given, access) => expect(allows(given, access)).toBe(true));
});

describe('a rule does not allow', () => {
  test.each<[string, ResourceRule, Access]>([
    ['another verb', rule({ verbs: ['list', 'watch'] }), getPods],
    ['another group', rule({ apiGroups: ['apps', 'discovery.k8s.io'] }), getPods],
    ['another resource', rule({ resources: ['services', 'po'] }), getPods],
    ['what has another name', rule({ resourceNames: ['other'] }), getOne],
    ['all of them, where it names some', rule({ resourceNames: ['one'] }), getPods],
    ['a name by a star', rule({ resourceNames: ['*'] }), getOne],
    ['a subresource with the resource', rule(), getLog],
    ['the resource with its subresource', rule({ resources: ['pods/log', '*/log'] }), getPods],
    ['another subresource', rule({ resources: ['pods/status', '*/status', '*/catalog'] }), getLog],
    ['anything, if it names nothing', rule({ verbs: [], apiGroups: [], resources: [] }), getPods],
  ])('%s', (_, given, access) => expect(allows(given, access)).toBe(false));
});
