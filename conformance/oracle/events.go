package main

import (
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// event is an Event that a controller records.
type event struct {
	Type      string `json:"type"`
	Reason    string `json:"reason"`
	Message   string `json:"message"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

// recorder replaces the event recorder.
type recorder struct{ h *harness }

func (r recorder) Event(o runtime.Object, t, reason, msg string) {
	m, _ := o.(metav1.Object)
	r.h.cur.Events = append(r.h.cur.Events, event{t, reason, msg, reflect.TypeOf(o).Elem().Name(), m.GetNamespace(), m.GetName()})
}
func (r recorder) Eventf(o runtime.Object, t, reason, f string, a ...interface{}) {
	r.Event(o, t, reason, fmt.Sprintf(f, a...))
}
func (r recorder) AnnotatedEventf(o runtime.Object, _ map[string]string, t, reason, f string, a ...interface{}) {
	r.Event(o, t, reason, fmt.Sprintf(f, a...))
}
