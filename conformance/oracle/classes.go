package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
)

var (
	reSlice = regexp.MustCompile(`failed to (update|delete) (\S*) EndpointSlice for`)
	reQuot  = regexp.MustCompile(`(endpointslices\.discovery\.k8s\.io |endpointslices )"([^"]*)"`)
	reErrd  = regexp.MustCompile(`error deleting (\S*) EndpointSlice for`)
)

// normMsg removes generated names from a message and sorts aggregated errors.
func normMsg(m string) string {
	m = reSlice.ReplaceAllString(m, "failed to $1 * EndpointSlice for")
	m = reQuot.ReplaceAllString(m, `$1"*"`)
	m = reErrd.ReplaceAllString(m, "error deleting * EndpointSlice for")
	if i := strings.Index(m, "["); i >= 0 && strings.HasSuffix(m, "]") {
		p := strings.Split(m[i+1:len(m)-1], ", ")
		sort.Strings(p)
		m = m[:i] + "[" + strings.Join(p, ", ") + "]"
	}
	return m
}

func js(v any) string { b, _ := json.Marshal(v); return string(b) }

// canonLevel returns a text per round. Outcomes that are the same at that level have equal texts.
func canonLevel(r *result, level int, user map[string]bool) []string {
	var res []string
	for _, rd := range r.Rounds {
		var out []string
		for _, o := range rd.Objects["endpoints"] {
			e := o.(*corev1.Endpoints)
			out = append(out, js([]any{e.Namespace, e.Name, e.Subsets, e.Labels, e.Annotations, e.DeletionTimestamp != nil}))
		}
		for _, o := range rd.Objects["endpointslices"] {
			s := o.(*discoveryv1.EndpointSlice)
			name := "*"
			if level == 0 && user[s.Name] {
				name = s.Name
			}
			var eps []string
			ports := s.Ports
			if len(ports) == 0 {
				ports = nil
			}
			ps := js(ports)
			for _, e := range s.Endpoints {
				if level == 3 {
					hz := js(e.Hints)
					e.Hints = nil
					eps = append(eps, js(e))
					out = append(out, "H"+string(s.AddressType)+ps+hz)
				} else {
					eps = append(eps, js(e))
				}
			}
			sort.Strings(eps)
			if level >= 2 {
				for _, e := range eps {
					out = append(out, "E"+string(s.AddressType)+ps+e)
				}
				eps = []string{fmt.Sprint(len(eps))}
			}
			out = append(out, js([]any{name, s.Namespace, s.AddressType, ports, s.Labels, s.Annotations, s.OwnerReferences, s.DeletionTimestamp != nil, eps}))
		}
		var evs []string
		for _, e := range rd.Events {
			e.Message = normMsg(e.Message)
			evs = append(evs, js(e))
		}
		n := map[string]int{}
		for _, a := range rd.Actions {
			n[a.Verb]++
			if a.Error != "" {
				n[a.Verb+"!"]++
			}
		}
		sort.Strings(out)
		sort.Strings(evs)
		res = append(res, fmt.Sprintf("%s\n%s\n%s%v\n", strings.Join(out, "\n"), strings.Join(evs, "\n"), js(n), rd.Quiet))
	}
	return append(res, r.Error)
}

// userNames are the slice names that the scenario gives.
func userNames(sc *scenario) map[string]bool {
	m := map[string]bool{}
	add := func(raw json.RawMessage) {
		var p struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		if json.Unmarshal(raw, &p) == nil && p.Kind == "EndpointSlice" {
			m[p.Metadata.Name] = true
		}
	}
	for _, o := range sc.Objects {
		add(o)
	}
	for _, s := range sc.Steps {
		if s.Object != nil {
			add(s.Object)
		}
	}
	return m
}

// prefixes: for each level, how many leading rounds had one outcome in all runs (level 0 strict, 1 names ignored, 2 shape,
// 3 shape with hints counted).
func prefixes(first *result, repeat int, given map[string]bool, run func() *result) []int {
	var ref [4][]string
	ref[0] = canonLevel(first, 0, given)
	p := make([]int, 4)
	for i := range p {
		p[i] = len(first.Rounds)
	}
	seen := map[string]bool{strings.Join(ref[0], "\x00"): true}
	for i := 1; i < repeat; i++ {
		r := run()
		c := canonLevel(r, 0, given)
		j := strings.Join(c, "\x00")
		if seen[j] {
			continue
		}
		seen[j] = true
		for lv := 0; lv < 4; lv++ {
			if lv > 0 {
				if ref[lv] == nil {
					ref[lv] = canonLevel(first, lv, given)
				}
				c = canonLevel(r, lv, given)
			}
			k := 0
			for k < p[lv] && k < len(c)-1 && c[k] == ref[lv][k] {
				k++
			}
			if r.Error != first.Error {
				k = 0
			}
			p[lv] = k
		}
	}
	return p
}
