package hostile

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"

	"github.com/raknet-go/raknet/internal/pool"
)

// Fingerprints sums up machines: everything that can be reached from a pointer, every
// field, what pointers lead to and which of them are the same, every element of slices
// and maps, and of pooled buffers the bytes in use. So two machines with one fingerprint
// will act alike, unless they differ in a capacity or in a field that was left out.
// Numbers are comparable within one process only. Not safe for concurrent use.
type Fingerprints struct {
	without []string
	adders  map[reflect.Type]adder
	sum     uint64
	seen    map[place]uint64 // pointers, numbered by their first sight
}

// adder adds a value of one type to the sum.
type adder func(v reflect.Value)

// place is what a pointer leads to; a struct begins where its first field does.
type place struct {
	at uintptr
	of reflect.Type
}

var (
	hashSeed   = maphash.MakeSeed()
	bufferType = reflect.TypeFor[pool.Buffer]()
	refType    = reflect.TypeFor[pool.Ref]()
)

// NewFingerprints returns one that leaves fields out, each written "type.field".
func NewFingerprints(without ...string) *Fingerprints {
	return &Fingerprints{without: without, adders: map[reflect.Type]adder{}, seen: map[place]uint64{}}
}

// Of returns the fingerprint of what a pointer leads to.
func (p *Fingerprints) Of(pointer any) uint64 {
	v := reflect.ValueOf(pointer)
	p.sum = 14695981039346656037 // as FNV-1a begins
	clear(p.seen)
	p.adder(v.Type())(v)
	return p.sum
}

func (p *Fingerprints) add(x uint64) {
	p.sum = (p.sum ^ x) * 1099511628211
	p.sum ^= p.sum >> 29
}

// adder returns what adds values of a type.
func (p *Fingerprints) adder(t reflect.Type) adder {
	if f, ok := p.adders[t]; ok {
		return f
	}
	f := p.make(t)
	p.adders[t] = f
	return f
}

func (p *Fingerprints) make(t reflect.Type) adder {
	switch k := t.Kind(); {
	case k == reflect.Bool:
		return func(v reflect.Value) {
			if v.Bool() {
				p.add(1)
			} else {
				p.add(2)
			}
		}
	case k >= reflect.Int && k <= reflect.Int64:
		return func(v reflect.Value) { p.add(uint64(v.Int())) }
	case k >= reflect.Uint && k <= reflect.Uintptr:
		return func(v reflect.Value) { p.add(v.Uint()) }
	case k == reflect.Float32 || k == reflect.Float64:
		return func(v reflect.Value) { p.add(maphash.Comparable(hashSeed, v.Float())) }
	case k == reflect.String:
		return func(v reflect.Value) { p.add(maphash.String(hashSeed, v.String())) }
	case k == reflect.Func:
		return func(v reflect.Value) { p.add(uint64(v.Pointer())) } // its code, not what it closes over
	case k == reflect.Slice || k == reflect.Array:
		return p.elements(t)
	case k == reflect.Map:
		return p.mapping(t)
	case k == reflect.Struct:
		return p.fields(t)
	case k == reflect.Pointer:
		return p.pointer(t)
	case k == reflect.Interface:
		return func(v reflect.Value) {
			if v.IsNil() {
				p.add(0)
				return
			}
			p.add(maphash.String(hashSeed, v.Elem().Type().String()))
			p.adder(v.Elem().Type())(v.Elem())
		}
	}
	panic(fmt.Sprintf("hostile: no fingerprint of a %v", t))
}

func (p *Fingerprints) elements(t reflect.Type) adder {
	if t.Elem().Kind() == reflect.Uint8 && t.Kind() == reflect.Slice {
		return func(v reflect.Value) { p.add(maphash.Bytes(hashSeed, v.Bytes())) }
	}
	var element adder // found out late, since types may contain themselves
	return func(v reflect.Value) {
		if element == nil {
			element = p.adder(t.Elem())
		}
		n := v.Len()
		p.add(uint64(n))
		for i := range n {
			element(v.Index(i))
		}
	}
}

func (p *Fingerprints) fields(t reflect.Type) adder {
	if t == bufferType {
		b, _ := t.FieldByName("B")
		n, _ := t.FieldByName("N")
		return func(v reflect.Value) {
			p.add(maphash.Bytes(hashSeed, v.Field(b.Index[0]).Bytes()[:v.Field(n.Index[0]).Int()]))
		}
	}
	type field struct {
		index int
		adder
	}
	var fields []field
	for i := range t.NumField() {
		if f := t.Field(i); !slices.Contains(p.without, t.Name()+"."+f.Name) {
			fields = append(fields, field{i, p.adder(f.Type)})
		}
	}
	all := func(v reflect.Value) {
		for _, f := range fields {
			f.adder(v.Field(f.index))
		}
	}
	if t == refType { // most of them are empty
		data := slices.IndexFunc(fields, func(f field) bool { return t.Field(f.index).Name == "Data" })
		return func(v reflect.Value) {
			if v.Field(data).Len() == 0 {
				p.add(0)
				return
			}
			all(v)
		}
	}
	return all
}

// pointer follows a pointer the first time, and names it from then on.
func (p *Fingerprints) pointer(t reflect.Type) adder {
	var target adder
	return func(v reflect.Value) {
		if v.IsNil() {
			p.add(0)
			return
		}
		at := place{v.Pointer(), t}
		n, again := p.seen[at]
		if again {
			p.add(n)
			return
		}
		n = uint64(len(p.seen)) + 1
		p.seen[at] = n
		p.add(n)
		if target == nil {
			target = p.adder(t.Elem())
		}
		target(v.Elem())
	}
}

// mapping goes through a map in the order of its keys.
func (p *Fingerprints) mapping(t reflect.Type) adder {
	var order func(a, b reflect.Value) int
	switch k := t.Key().Kind(); {
	case k >= reflect.Int && k <= reflect.Int64:
		order = func(a, b reflect.Value) int { return cmp.Compare(a.Int(), b.Int()) }
	case k >= reflect.Uint && k <= reflect.Uintptr:
		order = func(a, b reflect.Value) int { return cmp.Compare(a.Uint(), b.Uint()) }
	case k == reflect.String:
		order = func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) }
	default:
		panic(fmt.Sprintf("hostile: no order of the keys of a %v", t))
	}
	return func(v reflect.Value) {
		keys := v.MapKeys()
		slices.SortFunc(keys, order)
		p.add(uint64(len(keys)))
		for _, k := range keys {
			p.adder(t.Key())(k)
			p.adder(t.Elem())(v.MapIndex(k))
		}
	}
}
