//go:build before_1_35

package main

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
)

// Before Kubernetes 1.35 the handlers of Pods add their Services to the queue of Services themselves.

func addEndpointsPodWorker(*harness, *endpoint.Controller) {}

func addSlicePodWorker(*harness, *endpointslice.Controller) {}

func podProjectionKey(_, _ *corev1.Pod) any { return nil }
