import { expect, it } from 'vitest';
import { dumpEndpointSubset, dumpEndpointsPort } from './subset-dump.ts';

/** As `dump.ForHash` of Go prints them (L3, L4). */

it('dumps a port', () => {
  expect(dumpEndpointsPort({ name: 'http', port: 80, protocol: 'TCP', appProtocol: 'h2c' })).toBe(
    '(v1.EndpointPort){Name:(string)http Port:(int32)80 Protocol:(v1.Protocol)TCP AppProtocol:(*string)h2c}',
  );
  expect(dumpEndpointsPort({ port: 80 })).toBe(
    '(v1.EndpointPort){Name:(string) Port:(int32)80 Protocol:(v1.Protocol) AppProtocol:(*string)<nil>}',
  );
});

it('dumps a subset', () => {
  const targetRef = {
    ...{ kind: 'Pod', namespace: 'shop', name: 'web-0', uid: 'u' },
    ...{ apiVersion: 'v1', resourceVersion: '7', fieldPath: 'spec' },
  };
  const addresses = [{ ip: '10.0.0.1', hostname: 'h', nodeName: 'n', targetRef }, { ip: '10.0.0.2' }];
  expect(dumpEndpointSubset({ addresses, ports: [{ port: 80 }, { port: 81 }] })).toBe(
    '(v1.EndpointSubset){Addresses:([]v1.EndpointAddress)[' +
      '{IP:(string)10.0.0.1 Hostname:(string)h NodeName:(*string)n TargetRef:(*v1.ObjectReference){Kind:(string)Pod ' +
      'Namespace:(string)shop Name:(string)web-0 UID:(types.UID)u APIVersion:(string)v1 ResourceVersion:(string)7 ' +
      'FieldPath:(string)spec}} ' +
      '{IP:(string)10.0.0.2 Hostname:(string) NodeName:(*string)<nil> TargetRef:(*v1.ObjectReference)<nil>}] ' +
      'NotReadyAddresses:([]v1.EndpointAddress)<nil> Ports:([]v1.EndpointPort)[' +
      '{Name:(string) Port:(int32)80 Protocol:(v1.Protocol) AppProtocol:(*string)<nil>} ' +
      '{Name:(string) Port:(int32)81 Protocol:(v1.Protocol) AppProtocol:(*string)<nil>}]}',
  );
});

it('dumps empty fields of a target, and empty lists', () => {
  const addresses = [{ ip: '10.0.0.1', targetRef: {} }];
  expect(dumpEndpointSubset({ notReadyAddresses: addresses, ports: [] })).toBe(
    '(v1.EndpointSubset){Addresses:([]v1.EndpointAddress)<nil> NotReadyAddresses:([]v1.EndpointAddress)[' +
      '{IP:(string)10.0.0.1 Hostname:(string) NodeName:(*string)<nil> TargetRef:(*v1.ObjectReference){Kind:(string) ' +
      'Namespace:(string) Name:(string) UID:(types.UID) APIVersion:(string) ResourceVersion:(string) FieldPath:(string)}}] ' +
      'Ports:([]v1.EndpointPort)[]}',
  );
});
