import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Rows } from '../check-values.ts';
import { bytes, count, duration, type SourceValue, setting, share, written } from '../source-values.ts';

const guard = duration('services/writer/src/confirmation/mass-change-guard.ts', 'windowMs');
const requestLimit = 'services/console/src/http/request-limit.ts';
const limits = 'libs/platform/src/json.ts';
const budget = 'libs/kubernetes/src/list-budget.ts';
const streams = count('services/console/src/http/create-console.ts', 'maxStreams');
const consoleShare = share('services/sluice/src/composition/telemetry/start-console.ts', 'threadShare');
const session = duration('services/console/src/http/sessions.ts', 'lifetimeMs');
const launcherNode = written('count', 'package.json', /"node": ">=(\d+)"/);
const go = written('count', 'infra/local/go.mod', /^go 1\.(\d+)/m);
const java = written('count', 'services/sluice/src/cli/commands/run-options.ts', /requires Java (\d+)/);
const fuzzing = written('duration', 'tests/fuzz/main.ts', /seconds: positiveNumber\((\d+)/, 1_000);
const repetitions = count('conformance/regenerate.ts', 'repeat');

/** The vectors in the files, one a line. */
function vectors(pattern: string): SourceValue {
  const root = join(import.meta.dirname, '../../../conformance/vectors');
  const lines = globSync(pattern, { cwd: root }).map(
    (file) =>
      gunzipSync(readFileSync(join(root, file)))
        .toString()
        .split('\n')
        .filter((line) => line !== '').length,
  );
  const value = lines.reduce((sum, one) => sum + one, 0);
  return { kind: 'count', value, source: `the lines of conformance/vectors/${pattern}` };
}

export const root: Rows = {
  'README.md': [
    ['no traffic at 14:02?"', 'an example'],
    ['SQLite files, {} by default', setting('recording.retention')],
    ['Node ≥ {}, npm and git', launcherNode],
    ['(half a minute)', 'measured'],
    ['memory is 1.3 to 1.9 times', 'measured'],
    ['by leases of {} and', setting('leases.ttl')],
    ['Go ≥ 1.{},', go],
    ['Apache License 2.0', 'a license'],
  ],
  'CONTRIBUTING.md': [
    ['Node {} included', written('count', 'package.json', /"node": "(\d+)\./)],
    ['unit tests: a minute or two', 'measured'],
    ['bus input, for {}', fuzzing],
    ['needs Go ≥ 1.{}, openssl', go],
    ['Java ≥ {}, Maven', java],
    ['50–250 lines', 'a guideline'],
    ['at most 72 characters', 'a guideline'],
    ['Apache License 2.0', 'a license'],
  ],
  'SECURITY.md': [
    [
      '{} levels, {} values | malformed',
      count(limits, 'objectLimits.maxDepth'),
      count(limits, 'objectLimits.maxValues'),
    ],
    ['watch event, protobuf or JSON | {} |', bytes('libs/kubernetes/src/line-splitter.ts', 'maxLineBytes')],
    [
      'item of a list | {} |',
      written('size', 'libs/kubernetes/src/list-splitter.ts', /maxBytes \?\? (\d+) \* 1024 \* 1024/, 1024 ** 2),
    ],
    ['`watcher.maxCacheBytes`, {} objects, {} pages', count(budget, 'maxObjects'), count(budget, 'maxPages')],
    [
      'single request | {}; {} of an error; {} of Secrets',
      bytes('libs/kubernetes/src/connection.ts', 'defaultResponseBytes'),
      bytes('libs/kubernetes/src/response-handler.ts', 'errorBytes'),
      bytes('libs/fleet/src/clusters/secrets-source.ts', 'maxResponseBytes'),
    ],
    [
      'on the bus | {} levels, {} values',
      count(limits, 'messageLimits.maxDepth'),
      count(limits, 'messageLimits.maxValues'),
    ],
    [
      'HTTP port | {}, {} of one address; {} requests in progress',
      count('libs/telemetry/src/server/limit-connections.ts', 'defaultLimits.total'),
      count('libs/telemetry/src/server/limit-connections.ts', 'defaultLimits.perAddress'),
      count('libs/telemetry/src/server/limit-connections.ts', 'defaultLimits.pipelined'),
    ],
    ['streams of the console | {} |', streams],
    [
      '{} tokens in review; {} decisions',
      count('services/console/src/http/readers.ts', 'maxChecked'),
      count('services/console/src/access/access-decisions.ts', 'maxDecisions'),
    ],
    ['is noticed after up to {}.', duration('services/console/src/access/access-decisions.ts', 'ttlMs')],
    ['{} in progress, {} of unread', count(requestLimit, 'maxRequests'), bytes(requestLimit, 'maxUnreadBytes')],
    [
      '{} of the thread, after a burst of {} |',
      consoleShare,
      duration('services/console/src/thread-budget.ts', 'burstMs'),
    ],
    ['CI runs it for {} (', fuzzing],
    ['at most {} of the endpoints follow it in {} (', setting('writer.maxAdditionPercent'), guard],
    ['Beyond {} of a cluster within {}, removals', setting('writer.maxRemovalPercent'), guard],
    ['a session of {} with', session],
    ['At most {} streams are open', streams],
    ['a random id and ends after {}', session],
    ['more requests than {} in progress', count(requestLimit, 'maxRequests')],
  ],
  'conformance/README.md': [
    ['plays {} recorded scenarios', vectors('settled/**/*.jsonl.gz')],
    ['compares {} recorded calls', vectors('functions.jsonl.gz')],
    ['(`node_modules/.bin/node`, {})', written('count', 'package.json', /"node": "(\d+)\./)],
    ['It takes about 15 s on two idle cores', 'measured'],
    ['names the 212 scenarios', 'golden/as-shipped.json, which the run compares'],
    ['| profile | scenarios | rounds {…}', 'compared with the vectors by golden/compared-rounds.test.ts'],
    ['The others are not compared because {…}', 'printed by the run'],
    ['- nothing runs in them {…}', 'printed by the run'],
    ['On all scenarios: {…}', 'printed by the run'],
    ['| planted bug | {…}', 'printed by the run'],
    ['plays each scenario {} times', repetitions],
    ['(needs Python 3)', 'a requirement'],
    ['up to 1,200 Pods); `quirks`', 'conformance/generate.py'],
    ['names around 58 characters', 'Kubernetes'],
    [
      '`maxEndpointsPerSlice` (100), `maxEndpointsPerSubset` (1000), `batchPeriodMs` (0), `lag` (false), `horizonMs` (7,200,000)',
      'conformance/oracle/scenario.go',
    ],
    ['at least {} repetitions', repetitions],
  ],
  'docs/README.md': [],
  'docs/getting-started.md': [
    ['on your laptop in a minute', 'a measured time'],
    ['Node ≥ {}, npm and git', launcherNode],
    ['about half a minute', 'measured'],
    ['about one change a second', 'demo/src/simulator/story.test.ts checks it'],
    ['N times a second', 'the value of the flag'],
    ['stops answering every {}', duration('demo/src/recurring-outage.ts', 'answeringMs')],
    ['for {}; the log', duration('demo/src/recurring-outage.ts', 'outageMs')],
  ],
  'docs/glossary.md': [],
};
