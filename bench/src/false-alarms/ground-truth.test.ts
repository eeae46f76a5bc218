import { expect, test } from 'vitest';
import { GroundTruth } from './ground-truth.ts';

const second = 1_000;
const minute = 60 * second;
const serving = { isServing: true, isWanted: true };
const out = { isServing: false, isWanted: true };
const unwanted = { isServing: false, isWanted: false };
const finding = (from: number, to: number, reason = 'NoReadyEndpoints', service = 'shop/web') => ({
  ...{ service, reason, from: from * second, to: to * second },
});

test('an outage is one that clients notice, of a Service that has served and that somebody wants', () => {
  const truth = new GroundTruth();
  truth.observe('shop/web', 0, serving);
  truth.observe('shop/web', 100 * second, out);
  truth.observe('shop/web', 129 * second, serving);
  expect(truth.isTrue(finding(100, 129))).toBe(false);
  truth.observe('shop/web', 300 * second, out);
  truth.observe('shop/web', 330 * second, serving);
  expect(truth.isTrue(finding(301, 331))).toBe(true);
  expect(truth.isTrue(finding(301, 331, 'LateChange'))).toBe(false);
  expect(truth.isTrue(finding(301, 331, 'NoReadyEndpoints', 'shop/cart'))).toBe(false);
  truth.observe('shop/web', 600 * second, unwanted);
  expect(truth.isTrue(finding(600, 900))).toBe(false);
});

test('a Service that starts, at first or after it was not wanted, has ten minutes', () => {
  const truth = new GroundTruth();
  truth.observe('shop/web', 0, out);
  truth.observe('shop/web', 9 * minute, serving);
  expect(truth.isTrue(finding(60, 540))).toBe(false);
  truth.observe('shop/web', 20 * minute, unwanted);
  truth.observe('shop/web', 60 * minute, out);
  expect(truth.isTrue(finding(3_700, 3_800))).toBe(true);
  truth.observe('shop/web', 69 * minute, serving);
  expect(truth.isTrue(finding(3_700, 3_800))).toBe(false);
  expect(truth.expected).toEqual([]);
});

test('an outage of a minute must be found', () => {
  const truth = new GroundTruth();
  truth.observe('shop/web', 0, serving);
  truth.observe('shop/web', minute, out);
  truth.observe('shop/web', 2 * minute, serving);
  expect(truth.expected).toMatchObject([{ service: 'shop/web', from: minute, to: 2 * minute }]);
});

test('while nobody writes slices, clients do not find Pods that become ready', () => {
  const truth = new GroundTruth();
  truth.observe('shop/web', 0, serving);
  truth.pauseUntil(40 * second);
  truth.observe('shop/web', 5 * second, out);
  truth.observe('shop/web', 15 * second, serving);
  expect(truth.isTrue(finding(5, 40))).toBe(true);
});

test('an incident is found by one of its reasons while it lasts', () => {
  const truth = new GroundTruth();
  const incident = { title: 'a typo', service: 'shop/web', reasons: ['NoMatchingPods'], from: 0, to: 10 * minute };
  truth.add(incident);
  expect(truth.expected).toEqual([incident]);
  expect(truth.isFound(incident, [finding(301, 600, 'NoMatchingPods')])).toBe(true);
  expect(truth.isFound(incident, [finding(301, 600)])).toBe(false);
  expect(truth.isFound(incident, [finding(301, 600, 'NoMatchingPods', 'shop/cart')])).toBe(false);
  expect(truth.isFound(incident, [finding(700, 800, 'NoMatchingPods')])).toBe(false);
});

test('a Pod flaps if the load changed it six times in ten minutes', () => {
  const truth = new GroundTruth();
  for (let i = 0; i < 5; i++) truth.observeReadiness('shop/web', 'web-1', i * minute);
  truth.observeReadiness('shop/web', 'web-2', 5 * minute);
  expect(truth.isTrue(finding(300, 900, 'Flapping'))).toBe(false);
  truth.observeReadiness('shop/web', 'web-1', 9 * minute);
  expect(truth.isTrue(finding(540, 1_140, 'Flapping'))).toBe(true);
  expect(truth.isTrue(finding(2_000, 2_100, 'Flapping'))).toBe(false);
  expect(truth.isTrue(finding(540, 1_140, 'Flapping', 'shop/cart'))).toBe(false);
});

test('what begins just before the end must not be found', () => {
  const truth = new GroundTruth();
  truth.observe('shop/web', 0, serving);
  truth.observe('shop/cart', 0, serving);
  truth.observe('shop/cart', 60 * second, out);
  truth.observe('shop/web', 100 * second, out);
  truth.end(130 * second);
  expect(truth.expected.map(({ service }) => service)).toEqual(['shop/cart']);
});
