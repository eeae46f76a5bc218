import { expect, test } from 'vitest';
import { Pseudonyms } from './pseudonyms.ts';
import { redactContainer, redactDescription, redactNodeCondition, redactReason } from './redact-text.ts';

test.each([
  ['watcher started', 'watcher started'],
  ['watcher started and found Pod shop/a gone', 'watcher started and found Pod namespace-1/pod-1 gone'],
  [
    'watcher started and found Pod shop/a gone, and 2 more',
    'watcher started and found Pod namespace-1/pod-1 gone, and 2 more',
  ],
  ['watcher started and found acme', 'message-1'],
  ['Pod shop/cart-1 became not ready', 'Pod namespace-1/pod-1 became not ready'],
  ['Pod shop/cart-1 added, ready', 'Pod namespace-1/pod-1 added, ready'],
  ['Pod shop/cart-1 got address 192.0.2.9, fc00::2', 'Pod namespace-1/pod-1 got address 10.0.0.1, fd00::1'],
  ['Pod shop/cart-1 got address none', 'Pod namespace-1/pod-1 got address none'],
  ['Pod shop/cart-1 was bound to Node n2', 'Pod namespace-1/pod-1 was bound to Node node-1'],
  ['Node n1 moved to zone b', 'Node node-1 moved to zone zone-1'],
  ['Node n1 became not ready (NodeStatusUnknown)', 'Node node-1 became not ready (NodeStatusUnknown)'],
  ['Node n1 is unschedulable', 'Node node-1 is unschedulable'],
  ['Service ready/is deleted', 'Service namespace-1/service-1 deleted'],
  ['EndpointSlice shop/web changed', 'EndpointSlice namespace-1/endpointslice-1 changed'],
  ['Pod shop/cart-1 runs image acme/cart:1', 'Pod namespace-1/pod-1 message-1'],
  ['resync: the store of acme was replaced', 'message-1'],
  ['Pod cart', 'message-1'],
])('the description %s', (text, redacted) => {
  expect(redactDescription(text, new Pseudonyms())).toBe(redacted);
});

test.each([
  [
    redactContainer,
    'app: waiting (CrashLoopBackOff), 3 restarts',
    'container-1: waiting (CrashLoopBackOff), 3 restarts',
  ],
  [
    redactContainer,
    'app: terminated, exit code 1 (Error), 1 restart',
    'container-1: terminated, exit code 1 (Error), 1 restart',
  ],
  [redactContainer, 'app: waiting for acme', 'message-1'],
  [redactNodeCondition, 'not ready (KubeletNotReady), unschedulable', 'not ready (KubeletNotReady), unschedulable'],
  [
    redactNodeCondition,
    'taint node.kubernetes.io/unreachable:NoExecute',
    'taint node.kubernetes.io/unreachable:NoExecute',
  ],
  [redactNodeCondition, 'taint node.kubernetes.io/acme:NoExecute', 'taint label-1:NoExecute'],
  [redactNodeCondition, '', ''],
  [redactReason, 'ContainersNotReady', 'ContainersNotReady'],
  [redactReason, 'lost the disk of acme', 'message-1'],
])('%o of %s', (redact, text, redacted) => {
  expect(redact(text, new Pseudonyms())).toBe(redacted);
});
