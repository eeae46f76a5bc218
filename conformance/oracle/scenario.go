package main

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
)

// fault makes requests fail.
type fault struct {
	Verb     string `json:"verb"`
	Resource string `json:"resource"`
	Name     string `json:"name,omitempty"`
	Error    string `json:"error"` // conflict notfound alreadyexists forbidden forbiddenTerminating internal
	Times    int    `json:"times,omitempty"`
}

// step is one external event.
type step struct {
	Op        string          `json:"op"` // see README.md
	Object    json.RawMessage `json:"object,omitempty"`
	Fault     *fault          `json:"fault,omitempty"`
	Target    *target         `json:"target,omitempty"`    // userEdit, userDelete: which slice
	Merge     json.RawMessage `json:"merge,omitempty"`     // userEdit: JSON merge patch
	Count     int             `json:"count,omitempty"`     // deliver: only the first n writes
	Tombstone bool            `json:"tombstone,omitempty"` // delete: the informer reports a tombstone
	Run       *bool           `json:"run,omitempty"`       // default true: drain queues after this step
	ForMs     int64           `json:"forMs,omitempty"`
}

// config holds the settings of the controller and of the run.
type config struct {
	MaxEndpointsPerSlice  int32 `json:"maxEndpointsPerSlice"`
	MaxEndpointsPerSubset int32 `json:"maxEndpointsPerSubset"`
	BatchPeriodMs         int64 `json:"batchPeriodMs"`
	Lag                   bool  `json:"lag"`       // own writes reach the informers only at a "deliver" step
	MaxSyncs              int   `json:"maxSyncs"`  // per round; default 200
	HorizonMs             int64 `json:"horizonMs"` // per round: drop out when the next item is due later than this after the round began; default 2h
}

// scenario is one line of input; the format is in conformance/README.md.
type scenario struct {
	Name       string            `json:"name"`
	Controller string            `json:"controller"`
	Config     config            `json:"config"`
	Objects    []json.RawMessage `json:"objects"`
	Faults     []*fault          `json:"faults"`
	Steps      []step            `json:"steps"`
}

// action is a request that the controller sent.
type action struct {
	Verb     string `json:"verb"`
	Resource string `json:"resource"`
	Ns       string `json:"namespace"`
	Name     string `json:"name"`
	Error    string `json:"error,omitempty"`
	NoOp     bool   `json:"noop,omitempty"`
}

// round is what happened between two steps, and the state of the API server at its end.
type round struct {
	Trigger string                      `json:"trigger"`
	Actions []action                    `json:"actions"`
	Events  []event                     `json:"events"`
	Quiet   bool                        `json:"quiet"`
	Objects map[string][]runtime.Object `json:"objects"`
}

// result is one line of output.
type result struct {
	Name     string   `json:"name"`
	Rounds   []*round `json:"rounds"`
	Prefixes []int    `json:"prefixes,omitempty"`
	Error    string   `json:"error,omitempty"`
}
