//go:build !before_1_36

package main

import (
	"context"
	_ "unsafe" // for linkname

	"k8s.io/kubernetes/pkg/controller/endpointslicemirroring"
)

//go:linkname emNext k8s.io/kubernetes/pkg/controller/endpointslicemirroring.(*Controller).processNextWorkItem
func emNext(c *endpointslicemirroring.Controller, ctx context.Context) bool

func mirroringNext(h *harness, e *endpointslicemirroring.Controller) { emNext(e, h.ctx) }
