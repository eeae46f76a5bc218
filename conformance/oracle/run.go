package main

import (
	"fmt"
	"sort"

	"k8s.io/apimachinery/pkg/runtime"
)

// begin ends the current round and begins another.
func (h *harness) begin(trigger string, res *result) {
	h.snap()
	h.cur = &round{Trigger: trigger, Actions: []action{}, Events: []event{}}
	res.Rounds = append(res.Rounds, h.cur)
}

// runScenario runs a scenario from a fresh start.
func runScenario(sc *scenario) (res *result) {
	res = &result{Name: sc.Name}
	defer func() {
		if p := recover(); p != nil {
			res.Error = fmt.Sprint("panic: ", p)
		}
	}()
	h := newHarness(sc)
	for _, raw := range sc.Objects {
		r, o, err := decode(raw)
		if err != nil {
			res.Error = err.Error()
			return
		}
		h.userApply(r, o)
	}
	h.faults = append(h.faults, sc.Faults...)
	h.begin("initial", res)
	h.initialList()
	h.drain()
	for i, s := range sc.Steps {
		h.begin(fmt.Sprintf("step %d: %s", i, s.Op), res)
		h.clockMs += s.ForMs
		switch s.Op {
		case "apply":
			r, o, err := decode(s.Object)
			if err != nil {
				res.Error = err.Error()
				return
			}
			_, cur := h.userApply(r, o)
			h.deliverSet(r, cur)
		case "delete":
			r, o, err := decode(s.Object)
			if err != nil {
				res.Error = err.Error()
				return
			}
			if cur, ok := h.store[r][keyOf(o)]; ok {
				delete(h.store[r], keyOf(o))
				if s.Tombstone {
					h.deliverTombstone(r, cur)
				} else {
					h.deliverDel(r, cur)
				}
			}
		case "userEdit", "userDelete":
			if err := h.userStep(s); err != nil {
				res.Error = err.Error()
				return
			}
		case "resync":
			h.resync()
		case "fault":
			f := *s.Fault
			h.faults = append(h.faults, &f)
			continue
		case "deliver":
			if s.Count > 0 {
				h.flushN(s.Count)
			} else {
				h.flush()
			}
		case "restart": // new process: empty queues and trackers, informers relist
			h.boot()
			h.initialList()
		case "settle":
		default:
			res.Error = "unknown op " + s.Op
			return
		}
		if s.Run == nil || *s.Run {
			h.drain()
		}
	}
	h.snap()
	return
}

// dump returns all objects of a resource in the API server, by name.
func (h *harness) dump(r string) []runtime.Object {
	keys := []string{}
	for k := range h.store[r] {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	out := []runtime.Object{}
	for _, k := range keys {
		out = append(out, h.store[r][k])
	}
	return out
}

// snap stores the state of all Endpoints and EndpointSlices after the current round (objects are never changed in place).
func (h *harness) snap() {
	if h.cur != nil && h.cur.Objects == nil {
		h.cur.Objects = map[string][]runtime.Object{"endpoints": h.dump("endpoints"), "endpointslices": h.dump("endpointslices")}
	}
}
