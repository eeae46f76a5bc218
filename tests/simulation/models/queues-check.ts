import { ApiError } from '@sluice/kubernetes';
import { comparePlans, type PlanId } from '@sluice/messages';
import { type Random, randomInteger, sleep, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { DelayingQueue, LivenessProbe } from '@sluice/reconciler/testing';
import { isDeleted, type Tombstone, withTombstone } from '@sluice/service-state/testing/tombstones';
import { AdaptiveLimit } from '@sluice/writer';
import { PlanFence } from '@sluice/writer/testing';
import { chance, holds, type ModelCheck, pick, same } from './model-check.ts';

const keys = Array.from({ length: 12 }, (_, n) => `c/shop/s${n}`);

/** Each structure that decides when something is done, or whether it is done again, does what a plain one does. */
export const queuesCheck: ModelCheck = {
  invariant: 'a queue forgets nothing and repeats nothing',
  async run(random) {
    delayingQueue(random);
    livenessProbe(random);
    planFence(random);
    tombstones(random);
    await adaptiveLimit(random);
  },
};

function delayingQueue(random: Random): void {
  const [queue, model] = [new DelayingQueue(), new Map<string, number>()];
  for (let now = 0; now < 60; now++) {
    for (let n = randomInteger(random, 0, 6); n > 0; n--) {
      const [key, at] = [pick(random, keys), chance(random, 0.2) ? null : now + randomInteger(random, -2, 12)];
      queue.set(key, at);
      if (at === null) model.delete(key);
      else model.set(key, at);
    }
    const due = [...model].filter(([, at]) => at <= now);
    same('when the next key is due', queue.next(), model.size === 0 ? undefined : Math.min(...model.values()));
    if (chance(random, 0.4)) continue;
    const taken = queue.take(now);
    same('keys that are due', [...taken].sort(), due.map(([key]) => key).sort());
    const times = taken.map((key) => model.get(key) ?? 0);
    same(
      'the order of what is due',
      times,
      times.toSorted((a, b) => a - b),
    );
    for (const key of taken) model.delete(key);
  }
}

function livenessProbe(random: Random): void {
  const [silenceMs, betweenMs] = [500_000, 60_000];
  const [probe, model] = [new LivenessProbe(silenceMs), new Map<string, number>()];
  let lastProbe = Number.NEGATIVE_INFINITY;
  for (let now = 0; now < 4_000_000; now += randomInteger(random, 1, 90_000)) {
    const key = pick(random, keys);
    if (chance(random, 0.5)) {
      probe.observe(key, now);
      model.set(key, now);
    } else if (chance(random, 0.1)) {
      probe.remove(key);
      model.delete(key);
    }
    const silent = Math.min(...model.values());
    const dueAt = Math.max(silent + silenceMs, lastProbe + betweenMs);
    same('when the next Service is probed', probe.dueAt, model.size === 0 ? undefined : dueAt);
    const taken = probe.take(now);
    same('whether a Service is probed', taken !== undefined, model.size > 0 && dueAt <= now);
    if (taken === undefined) continue;
    same('how long a probed Service was silent', now - (model.get(taken) ?? now), now - silent);
    model.set(taken, now);
    lastProbe = now;
  }
}

function planFence(random: Random): void {
  const planOf = (): PlanId => ({ epoch: randomInteger(random, 1, 3), number: randomInteger(random, 1, 12) });
  let fence = new PlanFence();
  let passed: PlanId = { epoch: 0, number: 0 };
  let completed: { readonly workKey: string; readonly plan: PlanId }[] = [];
  let stored: ReturnType<PlanFence['advance']> = [];
  for (let n = 0; n < 60; n++) {
    const [workKey, plan, at] = [pick(random, keys.slice(0, 3)), planOf(), random.next()];
    if (at < 0.5) {
      fence.complete(workKey, plan);
      completed.push({ workKey, plan });
    } else if (at < 0.8) {
      const plans = Array.from({ length: randomInteger(random, 0, 3) }, planOf);
      const entries = fence.advance(plans);
      for (const one of plans) if (comparePlans(one, passed) > 0) passed = one;
      if (entries.length > 0) stored = entries;
    } else if (at < 0.85) {
      // The next owner knows what was stored.
      fence = new PlanFence();
      same('whether what was stored can be read', fence.load(stored), true);
      completed = [];
    }
    const probe = planOf();
    const isDone =
      comparePlans(probe, passed) <= 0 ||
      completed.some((one) => one.workKey === workKey && comparePlans(probe, one.plan) <= 0);
    same(`whether plan ${probe.epoch}/${probe.number} is done`, fence.rejects(workKey, probe), isDone);
  }
}

function tombstones(random: Random): void {
  let known: readonly Tombstone[] = [];
  const deleted = new Map<string, number>();
  for (let n = 1; n <= 150; n++) {
    const uid = `uid-${chance(random, 0.3) ? randomInteger(random, 1, n) : n}`;
    const version = Math.max(deleted.get(uid) ?? 0, n);
    known = withTombstone(known, { uid, resourceVersion: String(version) });
    deleted.set(uid, version);
    holds(`the deletion of ${uid} is not known`, isDeleted(known, uid, 0, String(version)));
    holds(`${uid} is deleted for ever`, !isDeleted(known, uid, 0, String(version + 1)));
    holds(`${known.length} deletions are kept`, known.length <= 64);
  }
}

/** Requests with priorities, of which some fail, some are slow, and some are given up while they wait. */
async function adaptiveLimit(random: Random): Promise<void> {
  const clock = new VirtualClock(1_000);
  const limit = new AdaptiveLimit({
    max: randomInteger(random, 1, 6),
    clock,
    ...(chance(random, 0.3) && { perSecond: 20 }),
  });
  let [running, settled, pausedUntil] = [0, 0, 0];
  const sent = randomInteger(random, 5, 40);
  for (let n = 0; n < sent; n++) {
    const giveUp = new AbortController();
    const request = async () => {
      if (giveUp.signal.aborted) throw new Error('given up');
      running += 1;
      holds(`${running} requests of at most ${limit.max} are in flight`, running <= limit.max);
      holds('a request is sent before Retry-After', clock.monotonic() >= pausedUntil);
      await sleep(clock, randomInteger(random, 1, 300));
      running -= 1;
      if (!chance(random, 0.1)) return;
      const retryAfterMs = chance(random, 0.5) ? 1_000 : undefined;
      if (retryAfterMs !== undefined) pausedUntil = clock.monotonic() + retryAfterMs;
      throw new ApiError('busy', { kind: 'retry', status: 429, reason: 'TooManyRequests', retryAfterMs });
    };
    const done = () => {
      settled += 1;
    };
    let wrong: unknown;
    void limit.run(pick(random, [0, 1, 5]), request, giveUp.signal).then(done, (error: unknown) => {
      if (error instanceof Error && error.name === 'WrongAnswer') wrong = error;
      done();
    });
    if (chance(random, 0.2)) clock.schedule(randomInteger(random, 0, 500), () => giveUp.abort());
    if (chance(random, 0.3)) await advance(clock, randomInteger(random, 0, 200));
    if (wrong !== undefined) throw wrong;
  }
  await advance(clock, 200_000);
  same('requests that have ended', settled, sent);
  same('requests in flight, and waiting, at rest', [limit.inFlight, limit.waiting], [0, 0]);
}
