import type { PlantedBug } from '@sluice/program/planted-bug';

const watcher = 'services/watcher/src';

export const watcherBugs: readonly PlantedBug[] = [
  {
    name: 'Changes do not name the one before',
    file: `${watcher}/publisher.ts`,
    search: 'partition.lastStamp = lastStamp;',
    replace: '',
  },
  {
    name: 'a recreated Service starts without snapshot',
    file: `${watcher}/publisher.ts`,
    search: 'if (isEmptied || !isPublishable) this.#published.markEmptied(text);',
    replace: '',
  },
  {
    name: 'the digest of a Service outlives its next Change',
    file: `${watcher}/published-state.ts`,
    search: 'for (const service of services) this.#removeDigest(service);\n    return services.some',
    replace: 'return services.some',
  },
  {
    name: 'digests are trusted after a failed commit',
    file: `${watcher}/published-state.ts`,
    search: '      this.#discardDigests();\n    } catch (error) {',
    replace: '    } catch (error) {',
  },
  {
    name: 'the next watcher trusts any digest',
    file: `${watcher}/resyncer.ts`,
    search: 'if (current === undefined || shortDigest(current) !== stored) return true;',
    replace: 'if (current === undefined) return true;',
  },
  {
    name: 'resync requests for other clusters are answered',
    file: `${watcher}/resyncer.ts`,
    search: "if (!('key' in scope) || scope.key.cluster !== cluster) return [];",
    replace: '',
  },
  {
    name: 'a deleted slice is not published',
    file: `${watcher}/compose-changes.ts`,
    search: "else if (!relabelled) facts.push({ kind: 'slice', name, slice: null, uid });",
    replace: 'else if (!relabelled) continue;',
  },
  {
    name: 'Pods lose their zone',
    file: `${watcher}/compose-changes.ts`,
    search: '?? placementOn(node);',
    replace: "?? { zone: '' };",
  },
  {
    name: 'of several changed Pods only the last is published',
    file: `${watcher}/dirty-set.ts`,
    search: 'entry.pods.add(reason.name);',
    replace: 'entry.pods.clear();\n      entry.pods.add(reason.name);',
  },
  {
    name: 'deletions between two lists are lost',
    file: `${watcher}/event-handler.ts`,
    search: 'for (const name of missing) this.delete(resource, parseObjectName(name), observedAt);',
    replace: '',
  },
  {
    name: 'a Pod that a Service no longer selects stays',
    file: `${watcher}/event-handler.ts`,
    search: 'for (const watched of [oldObject, newObject]) {',
    replace: 'for (const watched of [newObject ?? oldObject]) {',
  },
  {
    name: 'a new Node wakes nobody',
    file: `${watcher}/event-handler.ts`,
    search: 'const isMoved = oldObject?.zone !== newObject?.zone || oldObject === newObject;',
    replace: 'const isMoved = oldObject && newObject && oldObject.zone !== newObject.zone;',
  },
  {
    name: 'a slice that changes its Service is not reported to the old one',
    file: `${watcher}/event-handler.ts`,
    search: 'if (oldService !== undefined && oldService !== newService) {',
    replace: 'if (oldService !== undefined && newService === undefined) {',
  },
  {
    name: 'the index of Pods keeps old labels',
    file: `${watcher}/indexer.ts`,
    search: 'this.#podsByService.get(objectName(namespace, service))?.delete(name);',
    replace: '',
  },
  {
    name: 'a watch resumes at its start',
    file: 'libs/kubernetes/src/reflector.ts',
    search: "if (gone) this.#resourceVersion = '';",
    replace: '',
  },
  {
    name: 'a list of an old replica is accepted',
    file: 'libs/kubernetes/src/resource-version.ts',
    search: "throw readerError('retry', 'StaleList', message);",
    replace: 'return message.length > 0;',
  },
  {
    name: 'a digest is stored while a Change is in flight',
    file: `${watcher}/publisher.ts`,
    search: ' || isInFlight(partition, text)) continue;',
    replace: ') continue;',
  },
  {
    name: 'the stamp of a Change in flight is stored',
    file: `${watcher}/publisher.ts`,
    search: 'lastStamps.set(number, partition.publishedStamp);',
    replace: 'lastStamps.set(number, partition.lastStamp);',
  },
  {
    name: 'Services that were deleted while no watcher ran are forgotten',
    file: `${watcher}/resyncer.ts`,
    search: 'if (this.#serves(parseServiceKey(service).namespace)) publisher.published.restore(service);',
    replace: '',
  },
  {
    name: 'a slice that changes its Service stays in the index',
    file: `${watcher}/indexer.ts`,
    search: '    slices?.delete(name);\n',
    replace: '    if (slices?.size === 1) slices.delete(name);\n',
  },
  {
    name: 'a new selector needs no snapshot',
    file: `${watcher}/event-handler.ts`,
    search: 'equalSelectors(oldObject.selector, newObject.selector);',
    replace: 'equalSelectors(oldObject.selector, oldObject.selector);',
  },
  {
    name: 'a list does not move the resourceVersion',
    file: `${watcher}/informer.ts`,
    search: '    this.#resourceVersions.set(resource, resourceVersion);\n    if (this.hasSynced)',
    replace: '    if (this.hasSynced)',
  },
];
