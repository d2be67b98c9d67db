// Package sample has an exported name of each kind.
package sample

import (
	"context"
	"io"
)

// Limit and its kin are constants.
const (
	Limit         = 3
	Name   string = "sample"
	hidden        = 4
)

// Err is a variable.
var Err, hiddenErr error = io.EOF, nil

// Kind is a number.
type Kind int

// Text is an alias.
type Text = string

// String is a method of the value.
func (Kind) String() string { return "" }

// Pair has fields, and promotes methods.
type Pair[K comparable, V any] struct {
	Key    K
	Value  V
	hidden int
	base
}

type base struct{}

// Promoted is a method of the pointer.
func (*base) Promoted(ctx context.Context, names ...string) (n int, err error) { return 0, nil }

// Swap is a method of the pointer.
func (p *Pair[K, V]) Swap(other *Pair[K, V]) { p.hidden = hidden }

// Open can be implemented by every package.
type Open interface {
	io.Closer
	Do(ctx context.Context, fn func(k Kind) error) error
}

// Closed can be implemented only by this package.
type Closed interface{ apply() }

// Number is a constraint.
type Number interface{ ~int | ~int64 }

// Sum has a type parameter.
func Sum[N Number](numbers ...N) (total N) { _ = hiddenErr; return total }

func private() {}
