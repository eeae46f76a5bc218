import { FakeApiServer } from '@sluice/fake-apiserver';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { describe, expect, test } from 'vitest';
import { type ClusterActivity, describeActivity } from './activity.ts';
import { ClusterSimulator } from './cluster-simulator.ts';

function startStory(seed: number, activity: 'story' | 'quiet' = 'story') {
  const clock = new VirtualClock(Date.parse('2026-05-01T10:00:00Z'));
  const server = new FakeApiServer({ clock, random: seededRandom(1) });
  const simulator = new ClusterSimulator({ api: server, clock, random: seededRandom(seed), activity });
  const activities: ClusterActivity[] = [];
  const scenes: string[] = [];
  simulator.onActivity((one) => activities.push(one));
  simulator.start();
  const run = (seconds: number) => {
    for (const until = clock.now() + seconds * 1_000; clock.step(until); )
      if (scenes.at(-1) !== simulator.happening) scenes.push(simulator.happening);
  };
  return { simulator, activities, scenes, run };
}

/** Names of Pods and Nodes end at random. */
const withoutNames = (scene: string) => scene.replaceAll(/(Pod|Node) \S+/g, '$1').replace(/\d+ Pods/, 'Pods');

describe.each([1, 2, 3])('with seed %i', (seed) => {
  test('the same scenes follow each other, again and again', () => {
    const { scenes, run } = startStory(seed);
    run(600);
    const once = [
      'All is quiet',
      'Deployment shop/cart rolls out a new version',
      'Deployment shop/cart has rolled out',
      'Pod fails its readiness probe',
      'Pod is ready again',
      'Node does not respond; its Pods are not ready',
      'The Pods of Node are replaced on other Nodes',
      'Node is removed, and its Pods leave the slices',
      'Node takes its place',
    ];
    expect(scenes.length).toBeGreaterThan(3 * once.length);
    expect(scenes.map(withoutNames)).toEqual(scenes.map((_, index) => once[index % once.length]));
  });

  test('about one change happens per second', () => {
    const { activities, run } = startStory(seed);
    run(600);
    expect(activities.length / 600).toBeGreaterThan(0.7);
    expect(activities.length / 600).toBeLessThan(1.5);
  });

  test('it happens again in the same way', () => {
    const tell = () => {
      const { activities, run } = startStory(seed);
      run(200);
      return activities.map((one) => `${one.at} ${describeActivity(one)}`);
    };
    expect(tell()).toEqual(tell());
  });

  test('the background leaves the Services of the story alone', () => {
    const { activities, run } = startStory(seed, 'quiet');
    run(600);
    const services = new Set(activities.map(({ service }) => service));
    expect(services.size).toBeGreaterThan(3);
    expect(services).not.toContain('cart');
    expect(services).not.toContain('checkout');
    expect(activities.map(({ kind }) => kind)).not.toContain('Node');
  });
});

test('it ends when paused', () => {
  const { simulator, activities, run } = startStory(1);
  run(20);
  simulator.pause();
  run(60);
  const { length } = activities;
  run(300);
  expect(activities).toHaveLength(length);
  expect(simulator.converged).toBe(true);
});
