package main

import (
	"context"
	"reflect"
	"strings"
	"unsafe"

	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
)

// The steps that the controllers' own workers take. They are not exported, so they are linked by name.

//go:linkname epNext k8s.io/kubernetes/pkg/controller/endpoint.(*Controller).processNextWorkItem
func epNext(c *endpoint.Controller, ctx context.Context) bool

//go:linkname epLeftover k8s.io/kubernetes/pkg/controller/endpoint.(*Controller).checkLeftoverEndpoints
func epLeftover(c *endpoint.Controller)

//go:linkname esNext k8s.io/kubernetes/pkg/controller/endpointslice.(*Controller).processNextServiceWorkItem
func esNext(c *endpointslice.Controller, l klog.Logger) bool

//go:linkname esTopoNext k8s.io/kubernetes/pkg/controller/endpointslice.(*Controller).processNextTopologyWorkItem
func esTopoNext(c *endpointslice.Controller, l klog.Logger) bool

// setField sets an unexported field, to replace queues and recorders.
func setField(obj any, path string, val any) {
	v := reflect.ValueOf(obj).Elem()
	parts := strings.Split(path, ".")
	for i, p := range parts {
		f := v.FieldByName(p)
		if !f.IsValid() {
			panic("no field " + path)
		}
		f = reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem()
		if i == len(parts)-1 {
			f.Set(reflect.ValueOf(val))
			return
		}
		if f.Kind() == reflect.Pointer {
			f = f.Elem()
		}
		v = f
	}
}
