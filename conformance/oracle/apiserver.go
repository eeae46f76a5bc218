package main

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
)

// userApply: create or replace as a user would; fills uid/rv/generation when absent.
func (h *harness) userApply(r string, o runtime.Object) (old runtime.Object, cur runtime.Object) {
	k := keyOf(o)
	m := om(o)
	if prev, ok := h.store[r][k]; ok {
		old = prev
		if m.GetUID() == "" {
			m.SetUID(om(prev).GetUID())
		}
		if r == "endpointslices" && m.GetGeneration() == 0 {
			m.SetGeneration(sliceGen(prev.(*discoveryv1.EndpointSlice), o.(*discoveryv1.EndpointSlice)))
		}
	} else {
		if m.GetUID() == "" {
			m.SetUID(types.UID(fmt.Sprintf("uid-%s-%s", r, strings.ReplaceAll(k, "/", "-"))))
		}
		if r == "endpointslices" && m.GetGeneration() == 0 {
			m.SetGeneration(1)
		}
	}
	m.SetResourceVersion(h.nextRV())
	h.store[r][k] = o
	return old, o
}

// sliceGen is the generation of a slice after an update: labels count, annotations do not.
func sliceGen(old, cur *discoveryv1.EndpointSlice) int64 {
	a, b := old.DeepCopy(), cur.DeepCopy()
	la, lb := a.Labels, b.Labels
	a.ObjectMeta, b.ObjectMeta = metav1.ObjectMeta{}, metav1.ObjectMeta{}
	a.TypeMeta, b.TypeMeta = metav1.TypeMeta{}, metav1.TypeMeta{}
	if !apiequality.Semantic.DeepEqual(a, b) || !apiequality.Semantic.DeepEqual(la, lb) {
		return old.Generation + 1
	}
	return old.Generation
}

// takeFault returns the error with which a request fails, if any.
func (h *harness) takeFault(verb, res, name string) error {
	for i, f := range h.faults {
		if f.Verb != verb || f.Resource != res || (f.Name != "" && f.Name != name) {
			continue
		}
		if f.Times > 0 {
			f.Times--
			if f.Times == 0 {
				h.faults = append(h.faults[:i:i], h.faults[i+1:]...)
			}
		}
		gr := schema.GroupResource{Resource: res}
		if res == "endpointslices" {
			gr.Group = "discovery.k8s.io"
		}
		switch f.Error {
		case "conflict":
			return apierrors.NewConflict(gr, name, fmt.Errorf("injected"))
		case "notfound":
			return apierrors.NewNotFound(gr, name)
		case "alreadyexists":
			return apierrors.NewAlreadyExists(gr, name)
		case "forbidden":
			return apierrors.NewForbidden(gr, name, fmt.Errorf("injected"))
		case "forbiddenTerminating":
			e := apierrors.NewForbidden(gr, name, fmt.Errorf("unable to create new content in namespace because it is being terminated"))
			e.ErrStatus.Details.Causes = append(e.ErrStatus.Details.Causes, metav1.StatusCause{Type: corev1.NamespaceTerminatingCause, Message: "namespace is being terminated", Field: "metadata.namespace"})
			return e
		default:
			return apierrors.NewInternalError(fmt.Errorf("injected"))
		}
	}
	return nil
}

// react responds to a request of the controller.
func (h *harness) react(a clienttesting.Action) (bool, runtime.Object, error) {
	res, ns, verb := a.GetResource().Resource, a.GetNamespace(), a.GetVerb()
	gr := a.GetResource().GroupResource()
	rec := action{Verb: verb, Resource: res, Ns: ns}
	done := func(o runtime.Object, err error) (bool, runtime.Object, error) {
		if err != nil {
			rec.Error = string(apierrors.ReasonForError(err))
		}
		h.cur.Actions = append(h.cur.Actions, rec)
		return true, o, err
	}
	switch verb {
	case "create":
		o := a.(clienttesting.CreateAction).GetObject().DeepCopyObject()
		m := om(o)
		if m.GetNamespace() == "" {
			m.SetNamespace(ns)
		}
		if m.GetName() == "" && m.GetGenerateName() != "" {
			m.SetName(h.genName(m.GetGenerateName()))
		}
		rec.Name = m.GetName()
		if err := h.takeFault(verb, res, m.GetName()); err != nil {
			return done(nil, err)
		}
		if _, ok := h.store[res][keyOf(o)]; ok {
			return done(nil, apierrors.NewAlreadyExists(gr, m.GetName()))
		}
		h.seq++
		m.SetUID(types.UID(fmt.Sprintf("gen-uid-%d", h.seq)))
		m.SetResourceVersion(h.nextRV())
		if res == "endpointslices" {
			m.SetGeneration(1)
		}
		h.store[res][keyOf(o)] = o
		h.later(func() { h.deliverSet(res, o) })
		return done(o.DeepCopyObject(), nil)
	case "update":
		o := a.(clienttesting.UpdateAction).GetObject().DeepCopyObject()
		m := om(o)
		rec.Name = m.GetName()
		if err := h.takeFault(verb, res, m.GetName()); err != nil {
			return done(nil, err)
		}
		prev, ok := h.store[res][keyOf(o)]
		if !ok {
			return done(nil, apierrors.NewNotFound(gr, m.GetName()))
		}
		pm := om(prev)
		if m.GetResourceVersion() != "" && m.GetResourceVersion() != pm.GetResourceVersion() {
			return done(nil, apierrors.NewConflict(gr, m.GetName(), fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again")))
		}
		if m.GetUID() != "" && m.GetUID() != pm.GetUID() {
			return done(nil, apierrors.NewConflict(gr, m.GetName(), fmt.Errorf("uid mismatch")))
		}
		m.SetUID(pm.GetUID())
		m.SetCreationTimestamp(pm.GetCreationTimestamp())
		m.SetDeletionTimestamp(pm.GetDeletionTimestamp())
		m.SetResourceVersion(pm.GetResourceVersion())
		if res == "endpointslices" {
			m.SetGeneration(sliceGen(prev.(*discoveryv1.EndpointSlice), o.(*discoveryv1.EndpointSlice)))
		}
		if apiequality.Semantic.DeepEqual(prev, o) {
			rec.NoOp = true
			return done(prev.DeepCopyObject(), nil)
		}
		m.SetResourceVersion(h.nextRV())
		h.store[res][keyOf(o)] = o
		h.later(func() { h.deliverSet(res, o) })
		return done(o.DeepCopyObject(), nil)
	case "delete":
		rec.Name = a.(clienttesting.DeleteAction).GetName()
		if err := h.takeFault(verb, res, rec.Name); err != nil {
			return done(nil, err)
		}
		k := ns + "/" + rec.Name
		o, ok := h.store[res][k]
		if !ok {
			return done(nil, apierrors.NewNotFound(gr, rec.Name))
		}
		delete(h.store[res], k)
		h.later(func() { h.deliverDel(res, o) })
		return done(nil, nil)
	}
	return true, nil, fmt.Errorf("unexpected verb %s", verb)
}
