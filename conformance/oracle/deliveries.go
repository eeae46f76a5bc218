package main

import (
	"sort"
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// deliverSet delivers an object to the cache unless the cache has a newer version: a watch never goes back.
func (h *harness) deliverSet(r string, o runtime.Object) {
	inf := h.inf[r]
	prev, ok, _ := inf.idx.Get(o)
	if ok && version(prev.(runtime.Object)) > version(o) {
		return
	}
	c := o.DeepCopyObject()
	if ok {
		_ = inf.idx.Update(c)
		for _, hd := range inf.handlers {
			hd.OnUpdate(prev, c)
		}
	} else {
		_ = inf.idx.Add(c)
		for _, hd := range inf.handlers {
			hd.OnAdd(c, false)
		}
	}
}

// deliverDel delivers a deletion to the cache.
func (h *harness) deliverDel(r string, o runtime.Object) {
	inf := h.inf[r]
	if prev, ok, _ := inf.idx.Get(o); ok {
		_ = inf.idx.Delete(prev)
		for _, hd := range inf.handlers {
			hd.OnDelete(prev)
		}
	}
}

// later queues an own write for delivery.
func (h *harness) later(f func()) { h.undeliv = append(h.undeliv, f) }
func (h *harness) flush()         { h.flushN(len(h.undeliv)) }
func (h *harness) flushN(n int) {
	if n > len(h.undeliv) {
		n = len(h.undeliv)
	}
	l := h.undeliv[:n:n]
	h.undeliv = h.undeliv[n:]
	for _, f := range l {
		f()
	}
}

func version(o runtime.Object) int64 {
	n, _ := strconv.ParseInt(om(o).GetResourceVersion(), 10, 64)
	return n
}

// deliverTombstone delivers a deletion that the watch missed.
func (h *harness) deliverTombstone(r string, o runtime.Object) {
	inf := h.inf[r]
	if prev, ok, _ := inf.idx.Get(o); ok {
		_ = inf.idx.Delete(prev)
		for _, hd := range inf.handlers {
			hd.OnDelete(cache.DeletedFinalStateUnknown{Key: keyOf(o), Obj: prev})
		}
	}
}

// resync reports every cached object as updated.
func (h *harness) resync() {
	for _, r := range resources {
		for _, k := range sortedKeys(h.inf[r].idx) {
			o, _, _ := h.inf[r].idx.GetByKey(k)
			for _, hd := range h.inf[r].handlers {
				hd.OnUpdate(o, o)
			}
		}
	}
}

// initialList fills the caches and reports every object as added.
func (h *harness) initialList() {
	for _, r := range resources {
		keys := make([]string, 0, len(h.store[r]))
		for k := range h.store[r] {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		objs := make([]runtime.Object, len(keys))
		for i, k := range keys {
			objs[i] = h.store[r][k].DeepCopyObject()
			_ = h.inf[r].idx.Add(objs[i])
		}
	}
	for _, r := range resources {
		for _, k := range sortedKeys(h.inf[r].idx) {
			o, _, _ := h.inf[r].idx.GetByKey(k)
			for _, hd := range h.inf[r].handlers {
				hd.OnAdd(o, true)
			}
		}
	}
	if h.leftover != nil {
		h.leftover()
	}
}
func sortedKeys(i cache.Indexer) []string { k := i.ListKeys(); sort.Strings(k); return k }
