package main

import (
	corelisters "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/client-go/tools/cache"
)

// stubInformer is a cache that the harness fills, with the handlers that a controller registered.
type stubInformer struct {
	cache.SharedIndexInformer
	idx      cache.Indexer
	handlers []cache.ResourceEventHandler
}

func newStub() *stubInformer {
	return &stubInformer{idx: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
}
func (s *stubInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	s.handlers = append(s.handlers, h)
	return nil, nil
}
func (s *stubInformer) HasSynced() bool           { return true }
func (s *stubInformer) GetIndexer() cache.Indexer { return s.idx }
func (s *stubInformer) GetStore() cache.Store     { return s.idx }

type podInf struct{ *stubInformer }

func (i podInf) Informer() cache.SharedIndexInformer { return i.stubInformer }
func (i podInf) Lister() corelisters.PodLister       { return corelisters.NewPodLister(i.idx) }

type svcInf struct{ *stubInformer }

func (i svcInf) Informer() cache.SharedIndexInformer { return i.stubInformer }
func (i svcInf) Lister() corelisters.ServiceLister   { return corelisters.NewServiceLister(i.idx) }

type nodeInf struct{ *stubInformer }

func (i nodeInf) Informer() cache.SharedIndexInformer { return i.stubInformer }
func (i nodeInf) Lister() corelisters.NodeLister      { return corelisters.NewNodeLister(i.idx) }

type epInf struct{ *stubInformer }

func (i epInf) Informer() cache.SharedIndexInformer { return i.stubInformer }
func (i epInf) Lister() corelisters.EndpointsLister { return corelisters.NewEndpointsLister(i.idx) }

type sliceInf struct{ *stubInformer }

func (i sliceInf) Informer() cache.SharedIndexInformer { return i.stubInformer }
func (i sliceInf) Lister() discoverylisters.EndpointSliceLister {
	return discoverylisters.NewEndpointSliceLister(i.idx)
}
