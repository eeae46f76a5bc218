//go:build !before_1_35

package main

import (
	"context"
	"time"
	_ "unsafe" // for linkname

	corev1 "k8s.io/api/core/v1"
	endpointsliceutil "k8s.io/endpointslice/util"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
)

//go:linkname epPodNext k8s.io/kubernetes/pkg/controller/endpoint.(*Controller).processNextPodWorkItem
func epPodNext(c *endpoint.Controller, ctx context.Context) bool

//go:linkname esPodNext k8s.io/kubernetes/pkg/controller/endpointslice.(*Controller).processNextPodWorkItem
func esPodNext(c *endpointslice.Controller, l klog.Logger) bool

func addEndpointsPodWorker(h *harness, e *endpoint.Controller) {
	addPodWorker(h, e, func() { epPodNext(e, h.ctx) })
}

func addSlicePodWorker(h *harness, e *endpointslice.Controller) {
	addPodWorker(h, e, func() { esPodNext(e, h.log) })
}

// addPodWorker gives a controller a queue of Pods, from which it adds their Services to its other queue.
func addPodWorker(h *harness, controller any, next func()) {
	q := newQueue[*endpointsliceutil.PodProjectionKey](h, 5*time.Millisecond, 1000*time.Second)
	setField(controller, "podQueue", q)
	addWorker(h, q, next)
}

func podProjectionKey(old, new *corev1.Pod) any {
	return endpointsliceutil.GetPodUpdateProjectionKey(old, new)
}
