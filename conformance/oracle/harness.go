package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
	"k8s.io/kubernetes/pkg/controller/endpointslicemirroring"
)

// harness runs one controller against an API server in memory, on a virtual clock and without goroutines.
type harness struct {
	sc       *scenario
	cur      *round
	clockMs  int64
	rv       int64
	seq      int
	store    map[string]map[string]runtime.Object // resource -> ns/name
	inf      map[string]*stubInformer
	faults   []*fault
	undeliv  []func()
	ctx      context.Context
	log      klog.Logger
	queues   []worker
	leftover func()
}

var resources = []string{"services", "pods", "nodes", "endpoints", "endpointslices"}

func decode(raw json.RawMessage) (string, runtime.Object, error) {
	var tm metav1.TypeMeta
	if err := json.Unmarshal(raw, &tm); err != nil {
		return "", nil, err
	}
	var o runtime.Object
	var r string
	switch tm.Kind {
	case "Service":
		o, r = &corev1.Service{}, "services"
	case "Pod":
		o, r = &corev1.Pod{}, "pods"
	case "Node":
		o, r = &corev1.Node{}, "nodes"
	case "Endpoints":
		o, r = &corev1.Endpoints{}, "endpoints"
	case "EndpointSlice":
		o, r = &discoveryv1.EndpointSlice{}, "endpointslices"
	default:
		return "", nil, fmt.Errorf("unknown kind %q", tm.Kind)
	}
	return r, o, json.Unmarshal(raw, o)
}
func keyOf(o runtime.Object) string     { k, _ := cache.MetaNamespaceKeyFunc(o); return k }
func om(o runtime.Object) metav1.Object { return o.(metav1.Object) }

const alphabet = "bcdfghjklmnpqrstvwxz2456789"

func (h *harness) genName(base string) string {
	if len(base) > 58 {
		base = base[:58]
	}
	h.seq++
	n, s := h.seq, ""
	for i := 0; i < 5; i++ {
		s = string(alphabet[n%len(alphabet)]) + s
		n /= len(alphabet)
	}
	return base + s
}
func (h *harness) nextRV() string { h.rv++; return fmt.Sprint(h.rv) }

// worker is a queue and the step that processes its next item.
type worker struct {
	peek func() (int, int64)
	run  func()
}

func addWorker[T comparable](h *harness, q *virtualQueue[T], run func()) {
	h.queues = append(h.queues, worker{q.next, run})
}

func newHarness(sc *scenario) *harness {
	h := &harness{sc: sc, ctx: context.Background(), log: klog.Background(), store: map[string]map[string]runtime.Object{}, inf: map[string]*stubInformer{}, rv: 1000, seq: 0}
	h.log = klog.Logger{}
	h.ctx = klog.NewContext(h.ctx, h.log)
	for _, r := range resources {
		h.store[r] = map[string]runtime.Object{}
	}
	h.boot()
	return h
}

// boot starts a new process: empty queues, caches and trackers.
func (h *harness) boot() {
	c := &h.sc.Config
	if c.MaxEndpointsPerSlice == 0 {
		c.MaxEndpointsPerSlice = 100
	}
	if c.MaxEndpointsPerSubset == 0 {
		c.MaxEndpointsPerSubset = 1000
	}
	if c.MaxSyncs == 0 {
		c.MaxSyncs = 200 + 3*len(h.sc.Objects)
	}
	if c.HorizonMs == 0 {
		c.HorizonMs = 2 * 3600 * 1000
	}
	h.queues, h.undeliv, h.leftover = nil, nil, nil
	for _, r := range resources {
		h.inf[r] = newStub()
	}
	cs := &fake.Clientset{}
	cs.AddReactor("*", "*", h.react)
	batch := time.Duration(c.BatchPeriodMs) * time.Millisecond
	switch h.sc.Controller {
	case "endpoints":
		e := endpoint.NewEndpointController(h.ctx, podInf{h.inf["pods"]}, svcInf{h.inf["services"]}, epInf{h.inf["endpoints"]}, cs, batch)
		q := newQueue[string](h, 5*time.Millisecond, 1000*time.Second)
		setField(e, "queue", q)
		setField(e, "eventRecorder", recorder{h})
		addEndpointsPodWorker(h, e)
		addWorker(h, q, func() { epNext(e, h.ctx) })
		h.leftover = func() { epLeftover(e) }
	case "endpointslice":
		e := endpointslice.NewController(h.ctx, podInf{h.inf["pods"]}, svcInf{h.inf["services"]}, nodeInf{h.inf["nodes"]}, sliceInf{h.inf["endpointslices"]}, c.MaxEndpointsPerSlice, cs, batch)
		q := newQueue[string](h, time.Second, 1000*time.Second)
		t := newQueue[string](h, 5*time.Millisecond, 1000*time.Second)
		setField(e, "serviceQueue", q)
		setField(e, "topologyQueue", t)
		setField(e, "eventRecorder", recorder{h})
		setField(e, "reconciler.eventRecorder", recorder{h})
		addWorker(h, t, func() { esTopoNext(e, h.log) })
		addSlicePodWorker(h, e)
		addWorker(h, q, func() { esNext(e, h.log) })
	case "mirroring":
		e := endpointslicemirroring.NewController(h.ctx, epInf{h.inf["endpoints"]}, sliceInf{h.inf["endpointslices"]}, svcInf{h.inf["services"]}, c.MaxEndpointsPerSubset, cs, batch)
		q := newQueue[string](h, time.Second, 100*time.Second)
		setField(e, "queue", q)
		setField(e, "eventRecorder", recorder{h})
		setField(e, "reconciler.eventRecorder", recorder{h})
		addWorker(h, q, func() { mirroringNext(h, e) })
	default:
		panic("unknown controller " + h.sc.Controller)
	}
}

// drain runs everything that is due within the horizon.
func (h *harness) drain() {
	start := h.clockMs
	for n := 0; n < h.sc.Config.MaxSyncs; n++ {
		best, at := -1, int64(0)
		for i, f := range h.queues {
			if j, a := f.peek(); j >= 0 && (best < 0 || a < at) {
				best, at = i, a
			}
		}
		if best < 0 {
			h.cur.Quiet = true
			return
		}
		if at-start > h.sc.Config.HorizonMs {
			return
		}
		f := h.queues[best]
		f.run()
		if !h.sc.Config.Lag {
			h.flush()
		}
	}
}
