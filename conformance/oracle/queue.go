package main

import (
	"time"

	"k8s.io/client-go/util/workqueue"
)

// virtualQueue behaves as the delaying work queue, on the virtual clock: an immediate add goes to the ready list (once), a delayed one keeps the
// earliest due time and is not cancelled by an immediate add.
type virtualQueue[T comparable] struct {
	h     *harness
	ready []T
	due   map[T]int64
	order []T // of arrival of the delayed ones
	rl    workqueue.TypedRateLimiter[T]
}

// addReady appends an item that may run now, unless it is queued already.
func (q *virtualQueue[T]) addReady(item T) {
	for _, x := range q.ready {
		if x == item {
			return
		}
	}
	q.ready = append(q.ready, item)
}
func (q *virtualQueue[T]) push(item T, after time.Duration) {
	if after <= 0 {
		q.addReady(item)
		return
	}
	at := q.h.clockMs + after.Milliseconds()
	if old, ok := q.due[item]; ok {
		if at < old {
			q.due[item] = at
		}
		return
	}
	q.due[item] = at
	q.order = append(q.order, item)
}
func (q *virtualQueue[T]) Add(item T)                       { q.push(item, 0) }
func (q *virtualQueue[T]) AddAfter(item T, d time.Duration) { q.push(item, d) }
func (q *virtualQueue[T]) AddRateLimited(item T)            { q.push(item, q.rl.When(item)) }
func (q *virtualQueue[T]) Forget(item T)                    { q.rl.Forget(item) }
func (q *virtualQueue[T]) NumRequeues(item T) int           { return q.rl.NumRequeues(item) }
func (q *virtualQueue[T]) Len() int                         { return len(q.ready) }
func (q *virtualQueue[T]) Done(T)                           {}
func (q *virtualQueue[T]) ShutDown()                        {}
func (q *virtualQueue[T]) ShutDownWithDrain()               {}
func (q *virtualQueue[T]) ShuttingDown() bool               { return false }

// earliest returns the delayed item that is due first, with its time; -1 if there is none.
func (q *virtualQueue[T]) earliest() (int, int64) {
	best, at := -1, int64(0)
	for i, it := range q.order {
		if d := q.due[it]; best < 0 || d < at {
			best, at = i, d
		}
	}
	return best, at
}

// promote moves due items to the ready list.
func (q *virtualQueue[T]) promote() {
	for {
		i, at := q.earliest()
		if i < 0 || at > q.h.clockMs {
			return
		}
		it := q.order[i]
		q.order = append(q.order[:i:i], q.order[i+1:]...)
		delete(q.due, it)
		q.addReady(it)
	}
}

// next returns when the next item can run; its index is -1 if none waits.
func (q *virtualQueue[T]) next() (int, int64) {
	q.promote()
	if len(q.ready) > 0 {
		return 0, q.h.clockMs
	}
	return q.earliest()
}

// Get advances the clock to the next item's time.
func (q *virtualQueue[T]) Get() (T, bool) {
	if i, at := q.next(); i < 0 {
		var z T
		return z, true
	} else if at > q.h.clockMs {
		q.h.clockMs = at
	}
	q.promote()
	it := q.ready[0]
	q.ready = q.ready[1:]
	return it, false
}

// newQueue creates a queue with upstream's back-off per item, which the field's type does not specify.
func newQueue[T comparable](h *harness, base, longest time.Duration) *virtualQueue[T] {
	return &virtualQueue[T]{h: h, due: map[T]int64{}, rl: workqueue.NewTypedItemExponentialFailureRateLimiter[T](base, longest)}
}
