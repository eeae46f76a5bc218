package main

import (
	"encoding/json"
	"fmt"
	"sort"

	discoveryv1 "k8s.io/api/discovery/v1"
)

// target picks one stored slice independently of its name: the nth (modulo their number) of the slices that match,
// in the order of (addressType, ports, smallest first address, number of endpoints, name).
type target struct {
	Namespace   string            `json:"namespace"`
	Labels      map[string]string `json:"labels"`
	AddressType string            `json:"addressType"`
	Nth         int               `json:"nth"`
}

func (h *harness) pick(t *target) *discoveryv1.EndpointSlice {
	type cand struct {
		key string
		s   *discoveryv1.EndpointSlice
	}
	var c []cand
next:
	for _, o := range h.store["endpointslices"] {
		s := o.(*discoveryv1.EndpointSlice)
		if s.Namespace != t.Namespace || (t.AddressType != "" && string(s.AddressType) != t.AddressType) {
			continue
		}
		for k, v := range t.Labels {
			if s.Labels[k] != v {
				continue next
			}
		}
		first := ""
		for _, e := range s.Endpoints {
			if len(e.Addresses) > 0 && (first == "" || e.Addresses[0] < first) {
				first = e.Addresses[0]
			}
		}
		p, _ := json.Marshal(s.Ports)
		if len(s.Ports) == 0 {
			p = []byte("[]")
		}
		c = append(c, cand{fmt.Sprintf("%s|%s|%s|%06d|%s", s.AddressType, p, first, len(s.Endpoints), s.Name), s})
	}
	if len(c) == 0 {
		return nil
	}
	sort.Slice(c, func(i, j int) bool { return c[i].key < c[j].key })
	return c[t.Nth%len(c)].s
}

// mergePatch is RFC 7386.
func mergePatch(dst, patch any) any {
	p, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	d, ok := dst.(map[string]any)
	if !ok {
		d = map[string]any{}
	}
	for k, v := range p {
		if v == nil {
			delete(d, k)
		} else {
			d[k] = mergePatch(d[k], v)
		}
	}
	return d
}

// userStep edits or deletes the slice that the step selects; it does nothing if there is none.
func (h *harness) userStep(s step) error {
	cur := h.pick(s.Target)
	if cur == nil {
		return nil
	}
	if s.Op == "userDelete" {
		delete(h.store["endpointslices"], keyOf(cur))
		if s.Tombstone {
			h.deliverTombstone("endpointslices", cur)
		} else {
			h.deliverDel("endpointslices", cur)
		}
		return nil
	}
	b, err := json.Marshal(cur)
	if err != nil {
		return err
	}
	var d, p any
	_ = json.Unmarshal(b, &d)
	if err := json.Unmarshal(s.Merge, &p); err != nil {
		return err
	}
	b, _ = json.Marshal(mergePatch(d, p))
	o := &discoveryv1.EndpointSlice{}
	if err := json.Unmarshal(b, o); err != nil {
		return err
	}
	o.Generation = 0
	_, n := h.userApply("endpointslices", o)
	h.deliverSet("endpointslices", n)
	return nil
}
