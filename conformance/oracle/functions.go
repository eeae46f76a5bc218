package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	_ "unsafe" // for linkname

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	_ "k8s.io/endpointslice" // whose functions are linked by name
	"k8s.io/endpointslice/topologycache"
	"k8s.io/endpointslice/trafficdist"
	endpointsliceutil "k8s.io/endpointslice/util"
	"k8s.io/klog/v2"
	epsv1 "k8s.io/kubernetes/pkg/api/v1/endpoints"
	"k8s.io/utils/dump"
)

//go:linkname podToEndpoint k8s.io/endpointslice.podToEndpoint
func podToEndpoint(pod *corev1.Pod, node *corev1.Node, service *corev1.Service, t discoveryv1.AddressType) discoveryv1.Endpoint

//go:linkname getEndpointPorts k8s.io/endpointslice.getEndpointPorts
func getEndpointPorts(l klog.Logger, service *corev1.Service, pod *corev1.Pod) []discoveryv1.EndpointPort

//go:linkname hintsEnabled k8s.io/endpointslice.hintsEnabled
func hintsEnabled(a map[string]string) bool

//go:linkname getEndpointSlicePrefix k8s.io/endpointslice.getEndpointSlicePrefix
func getEndpointSlicePrefix(s string) string

//go:linkname podEndpointsChanged k8s.io/endpointslice/util.podEndpointsChanged
func podEndpointsChanged(a, b *corev1.Pod) (bool, bool)

//go:linkname truncateEndpoints k8s.io/kubernetes/pkg/controller/endpoint.truncateEndpoints
func truncateEndpoints(e *corev1.Endpoints) bool

//go:linkname podToEndpointAddressForService k8s.io/kubernetes/pkg/controller/endpoint.podToEndpointAddressForService
func podToEndpointAddressForService(svc *corev1.Service, pod *corev1.Pod) (*corev1.EndpointAddress, error)

// fnv128 is the hash that upstream uses to order ports and subsets.
func fnv128(s string) string {
	h := fnv.New128a()
	h.Write([]byte(s))
	return hex.EncodeToString(h.Sum(nil))
}

// call is the input of one pure function.
type call struct {
	Fn                  string                       `json:"fn"`
	Name                string                       `json:"name"`
	Pod                 *corev1.Pod                  `json:"pod"`
	OldPod              *corev1.Pod                  `json:"oldPod"`
	Node                *corev1.Node                 `json:"node"`
	Service             *corev1.Service              `json:"service"`
	AddressType         discoveryv1.AddressType      `json:"addressType"`
	Ports               []discoveryv1.EndpointPort   `json:"ports"`
	Subsets             []corev1.EndpointSubset      `json:"subsets"`
	Endpoints           *corev1.Endpoints            `json:"endpoints"`
	Annotations         map[string]string            `json:"annotations"`
	TrafficDistribution *string                      `json:"trafficDistribution"`
	ToCreate            []*discoveryv1.EndpointSlice `json:"toCreate"`
	ToUpdate            []*discoveryv1.EndpointSlice `json:"toUpdate"`
	Unchanged           []*discoveryv1.EndpointSlice `json:"unchanged"`
	Nodes               []*corev1.Node               `json:"nodes"`
	Text                string                       `json:"text"`
}

// runFn calls one of upstream's pure functions.
func runFn(fn string, raw json.RawMessage) any {
	in := &call{}
	if err := json.Unmarshal(raw, in); err != nil {
		return map[string]any{"fn": fn, "error": err.Error()}
	}
	out := map[string]any{"fn": fn, "name": in.Name}
	switch fn {
	case "portMapKey":
		var each []map[string]string
		for _, p := range in.Ports {
			d := dump.ForHash(p)
			each = append(each, map[string]string{"dump": d, "hash": fnv128(d)})
		}
		out["each"] = each
		out["key"] = endpointsliceutil.NewPortMapKey(in.Ports)
		if in.Ports == nil {
			in.Ports = []discoveryv1.EndpointPort{}
		}
		out["sorted"] = in.Ports
		out["dump"] = dump.ForHash(in.Ports)
	case "repackSubsets":
		r := epsv1.RepackSubsets(in.Subsets)
		var dumps []any
		for _, s := range r {
			d := dump.ForHash(s)
			var pd []any
			for _, p := range s.Ports {
				x := dump.ForHash(p)
				pd = append(pd, map[string]string{"dump": x, "hash": fnv128(x)})
			}
			dumps = append(dumps, map[string]any{"dump": d, "hash": fnv128(d), "ports": pd})
		}
		out["subsets"], out["dumps"] = r, dumps
	case "truncateEndpoints":
		out["truncated"] = truncateEndpoints(in.Endpoints)
		out["endpoints"] = in.Endpoints
	case "podToEndpoint":
		out["endpoint"] = podToEndpoint(in.Pod, in.Node, in.Service, in.AddressType)
		out["ports"] = getEndpointPorts(klog.Logger{}, in.Service, in.Pod)
	case "podToEndpointAddress":
		a, err := podToEndpointAddressForService(in.Service, in.Pod)
		out["address"] = a
		if err != nil {
			out["error"] = err.Error()
		}
	case "podChanged":
		p, l := podEndpointsChanged(in.OldPod, in.Pod)
		out["podChanged"], out["labelsChanged"] = p, l
		out["key"] = podProjectionKey(in.OldPod, in.Pod)
	case "hintsEnabled":
		out["enabled"] = hintsEnabled(in.Annotations)
	case "slicePrefix":
		out["prefix"] = getEndpointSlicePrefix(in.Text)
	case "trafficDist":
		c, u, un := trafficdist.ReconcileHints(in.TrafficDistribution, in.ToCreate, in.ToUpdate, in.Unchanged)
		out["toCreate"], out["toUpdate"], out["unchanged"] = c, u, un
	case "topologyHints":
		tc := topologycache.NewTopologyCache()
		tc.SetNodes(klog.Logger{}, in.Nodes)
		si := &topologycache.SliceInfo{ServiceKey: "ns/svc", AddressType: in.AddressType, ToCreate: in.ToCreate, ToUpdate: in.ToUpdate, Unchanged: in.Unchanged}
		c, u, e := tc.AddHints(klog.Logger{}, si)
		out["toCreate"], out["toUpdate"], out["events"], out["unchanged"] = c, u, e, si.Unchanged
		out["overloaded"] = tc.GetOverloadedServices()
	case "fnv128a":
		out["hash"] = fnv128(in.Text)
	default:
		out["error"] = fmt.Sprintf("unknown fn %q", fn)
	}
	return out
}
