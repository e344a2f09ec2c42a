package metadata

import (
	"cmp"
	"iter"
	"slices"

	"stet/core/kafka"
)

// key is what a tree is ordered by. hash decides the shape of the tree and must be the same in
// every process.
type key[K any] interface {
	compare(K) int
	hash() uint64
}

// tree is a persistent map, ordered by key: put and remove return a new tree that shares all but a
// path with the old one. It is a treap whose priorities are hashes of the keys, so its shape
// depends on the set of keys alone, not on the history. That keeps two trees with a common history
// alike wherever they agree, and diff skips what they share.
//
// The zero value is empty. Values are shared, never copied, and must not be written.
type tree[K key[K], V any] struct{ root *treeNode[K, V] }

// treeNode is immutable. No descendant comes before it by above.
type treeNode[K key[K], V any] struct {
	key         K
	priority    uint64
	value       *V
	left, right *treeNode[K, V]
	count       int // of the nodes from here on down
}

func (n *treeNode[K, V]) size() int {
	if n == nil {
		return 0
	}
	return n.count
}

// with returns n with other children, sharing nothing that changes.
func (n *treeNode[K, V]) with(left, right *treeNode[K, V]) *treeNode[K, V] {
	if n.left == left && n.right == right {
		return n
	}
	return &treeNode[K, V]{n.key, n.priority, n.value, left, right, 1 + left.size() + right.size()}
}

// above says whether n belongs nearer to the root than o: a total order over distinct keys.
func (n *treeNode[K, V]) above(o *treeNode[K, V]) bool {
	if n.priority != o.priority {
		return n.priority > o.priority
	}
	return n.key.compare(o.key) < 0
}

func (t tree[K, V]) size() int { return t.root.size() }

func (t tree[K, V]) get(k K) *V {
	for n := t.root; n != nil; {
		switch c := k.compare(n.key); {
		case c == 0:
			return n.value
		case c < 0:
			n = n.left
		default:
			n = n.right
		}
	}
	return nil
}

// put returns the tree with k mapped to v, which must not be nil.
func (t tree[K, V]) put(k K, v *V) tree[K, V] {
	return tree[K, V]{t.root.insert(&treeNode[K, V]{key: k, priority: k.hash(), value: v, count: 1})}
}

func (n *treeNode[K, V]) insert(fresh *treeNode[K, V]) *treeNode[K, V] {
	if n == nil {
		return fresh
	}
	c := fresh.key.compare(n.key)
	switch {
	case c == 0:
		return fresh.with(n.left, n.right)
	case fresh.above(n):
		// The key is not below n: a node with this key would be above n as well.
		left, right := n.split(fresh.key)
		return fresh.with(left, right)
	case c < 0:
		return n.with(n.left.insert(fresh), n.right)
	}
	return n.with(n.left, n.right.insert(fresh))
}

// split returns the nodes below k and those above it; a node with k itself is dropped.
func (n *treeNode[K, V]) split(k K) (less, more *treeNode[K, V]) {
	if n == nil {
		return nil, nil
	}
	switch c := k.compare(n.key); {
	case c == 0:
		return n.left, n.right
	case c < 0:
		less, more = n.left.split(k)
		return less, n.with(more, n.right)
	}
	less, more = n.right.split(k)
	return n.with(n.left, less), more
}

// remove returns the tree without k.
func (t tree[K, V]) remove(k K) tree[K, V] { return tree[K, V]{t.root.without(k)} }

func (n *treeNode[K, V]) without(k K) *treeNode[K, V] {
	if n == nil {
		return nil
	}
	switch c := k.compare(n.key); {
	case c == 0:
		return join(n.left, n.right)
	case c < 0:
		return n.with(n.left.without(k), n.right)
	}
	return n.with(n.left, n.right.without(k))
}

// join merges two trees, every key of left being below every key of right.
func join[K key[K], V any](left, right *treeNode[K, V]) *treeNode[K, V] {
	switch {
	case left == nil:
		return right
	case right == nil:
		return left
	case left.above(right):
		return left.with(left.left, join(left.right, right))
	}
	return right.with(join(left, right.left), right.right)
}

// fromSorted makes a tree of keys in ascending order, in linear time.
func fromSorted[K key[K], V any](keys []K, values []*V) tree[K, V] {
	// spine is the path from the root to the largest key so far. Its nodes are still being built.
	var spine []*treeNode[K, V]
	for i, k := range keys {
		fresh := &treeNode[K, V]{key: k, priority: k.hash(), value: values[i], count: 1}
		var below *treeNode[K, V]
		for len(spine) > 0 && fresh.above(spine[len(spine)-1]) {
			below = spine[len(spine)-1].recount()
			spine = spine[:len(spine)-1]
		}
		fresh.left = below
		if len(spine) > 0 {
			spine[len(spine)-1].right = fresh
		}
		spine = append(spine, fresh)
	}
	var root *treeNode[K, V]
	for _, n := range slices.Backward(spine) {
		root = n.recount()
	}
	return tree[K, V]{root}
}

// recount completes a node that is being built and whose children are complete.
func (n *treeNode[K, V]) recount() *treeNode[K, V] {
	n.count = 1 + n.left.size() + n.right.size()
	return n
}

// replaced returns the tree with the values of keys replaced. The tree has the keys, and they ascend.
// Whatever is on the way to several of them is copied once.
func (t tree[K, V]) replaced(keys []K, values []*V) tree[K, V] {
	return tree[K, V]{t.root.replaced(keys, values)}
}

func (n *treeNode[K, V]) replaced(keys []K, values []*V) *treeNode[K, V] {
	if len(keys) == 0 {
		return n
	}
	i, found := slices.BinarySearchFunc(keys, n.key, K.compare)
	value, rest := n.value, i
	if found {
		value, rest = values[i], i+1
	}
	left := n.left.replaced(keys[:i], values[:i])
	right := n.right.replaced(keys[rest:], values[rest:])
	return &treeNode[K, V]{n.key, n.priority, value, left, right, n.count}
}

// all yields the values in the order of their keys.
func (t tree[K, V]) all() iter.Seq[*V] {
	return func(yield func(*V) bool) { t.root.yield(yield) }
}

func (n *treeNode[K, V]) yield(to func(*V) bool) bool {
	return n == nil || n.left.yield(to) && to(n.value) && n.right.yield(to)
}

// walk calls visit for every key, in order.
func (t tree[K, V]) walk(visit func(K, *V)) { t.root.walk(visit) }

func (n *treeNode[K, V]) walk(visit func(K, *V)) {
	if n == nil {
		return
	}
	n.left.walk(visit)
	visit(n.key, n.value)
	n.right.walk(visit)
}

// diff calls changed, in the order of keys, for every key whose value is not the same pointer in
// both trees. A missing value is nil.
func diff[K key[K], V any](before, after tree[K, V], changed func(k K, before, after *V)) {
	diffNodes(before.root, after.root, changed)
}

func diffNodes[K key[K], V any](a, b *treeNode[K, V], changed func(k K, before, after *V)) {
	switch {
	case a == b:
	case a == nil:
		b.walk(func(k K, v *V) { changed(k, nil, v) })
	case b == nil:
		a.walk(func(k K, v *V) { changed(k, v, nil) })
	case a.key.compare(b.key) == 0:
		diffNodes(a.left, b.left, changed)
		if a.value != b.value {
			changed(a.key, a.value, b.value)
		}
		diffNodes(a.right, b.right, changed)
	case a.above(b): // then b does not have a's key
		less, more := b.split(a.key)
		diffNodes(a.left, less, changed)
		changed(a.key, a.value, nil)
		diffNodes(a.right, more, changed)
	default:
		less, more := a.split(b.key)
		diffNodes(less, b.left, changed)
		changed(b.key, nil, b.value)
		diffNodes(more, b.right, changed)
	}
}

// Keys.

type topicName string

func (k topicName) compare(o topicName) int {
	switch {
	case k < o:
		return -1
	case k > o:
		return 1
	}
	return 0
}

func (k topicName) hash() uint64 { return hashString(hashStart, string(k)) }

type topicID kafka.TopicID

func (k topicID) compare(o topicID) int { return compareBytes(k[:], o[:]) }
func (k topicID) hash() uint64          { return hashBytes(hashStart, k[:]) }

type brokerKey kafka.BrokerID

func (k brokerKey) compare(o brokerKey) int { return int(k) - int(o) }
func (k brokerKey) hash() uint64            { return mix(hashStart ^ uint64(uint32(k))) }

type voterKey uint64

func (k voterKey) compare(o voterKey) int { return cmp.Compare(k, o) }
func (k voterKey) hash() uint64           { return mix(hashStart ^ uint64(k)) }

type resourceKey Resource

func (k resourceKey) compare(o resourceKey) int {
	if k.Type != o.Type {
		return int(k.Type) - int(o.Type)
	}
	return topicName(k.Name).compare(topicName(o.Name))
}

func (k resourceKey) hash() uint64 { return hashString(hashStart^uint64(uint8(k.Type)), k.Name) }
