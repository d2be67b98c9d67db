package modeled

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/codec"
	"github.com/go-curator/curator/framework/schema"
)

var (
	errNoCodec     = fmt.Errorf("%w: the ModelSpec has no Codec", framework.ErrInvalidOption)
	errProtectedOp = fmt.Errorf("%w: a transaction cannot create a node with protection", framework.ErrInvalidOption)
)

// ModelSpec has the path of models of a type, and says how they are stored. Path and Codec are
// required; the zero values of the others are the defaults. Users of a spec do not change it.
//
// Java: ModelSpec, ModelSpecBuilder.
type ModelSpec[T any] struct {
	Path  ZPath
	Codec codec.Codec[T]
	Mode  framework.CreateMode
	TTL   time.Duration // for the modes with one
	ACL   []framework.ACL
	// Compressed passes the data through the client's compression provider. Uncompressed does
	// not, also if the client compresses by default. Not both.
	Compressed, Uncompressed bool
	// Protected puts an id into the names of nodes; see framework.CreateBuilder.WithProtection.
	// As with a sequential mode, every Set then creates a new node.
	Protected bool
	// WithoutParents does not create missing parents. PersistentParents creates them as persistent
	// nodes; the default is containers, which the servers remove when they are empty. Not both.
	WithoutParents, PersistentParents bool
	// CreateOnly makes Set fail with framework.ErrNodeExists if the node exists.
	CreateOnly bool
	// DeletingChildrenIfNeeded makes Delete remove the whole subtree, and Quietly makes it succeed
	// if there is no node; see framework.DeleteBuilder. DeleteOp does not heed them.
	DeletingChildrenIfNeeded, Quietly bool
}

// check returns what is wrong with a spec.
func (s *ModelSpec[T]) check() error {
	switch {
	case s.Codec == nil:
		return errNoCodec
	case s.Compressed && s.Uncompressed:
		return fmt.Errorf("%w: the ModelSpec is Compressed and Uncompressed", framework.ErrInvalidOption)
	case s.WithoutParents && s.PersistentParents:
		return fmt.Errorf("%w: the ModelSpec has WithoutParents and PersistentParents", framework.ErrInvalidOption)
	}
	return nil
}

// Schema returns the schema of the spec's nodes: their mode, their ACL if the spec has one, and
// data that the codec can decode. Errors: framework.ErrInvalidPath, framework.ErrInvalidOption,
// schema.ErrInvalid.
//
// Java: schema.
func (s ModelSpec[T]) Schema() (*schema.Schema, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	expr, err := s.Path.SchemaPathPattern()
	if err != nil {
		return nil, err
	}
	ephemeral := s.Mode == framework.Ephemeral || s.Mode == framework.EphemeralSequential
	return schema.NewRegexp(s.Path.String(), expr.String(),
		schema.WithEphemeral(mustOrCannot(ephemeral)), schema.WithSequential(mustOrCannot(s.sequential())),
		schema.WithValidator(schema.ValidatorFunc(s.validate)))
}

// sequential tells whether the nodes get numbers.
func (s ModelSpec[T]) sequential() bool {
	switch s.Mode {
	case framework.PersistentSequential, framework.EphemeralSequential, framework.PersistentSequentialWithTTL:
		return true
	default:
		return false
	}
}

func mustOrCannot(must bool) schema.Allowance {
	if must {
		return schema.Must
	}
	return schema.Cannot
}

// validate judges a change of a node.
func (s ModelSpec[T]) validate(_ *schema.Schema, change schema.Change) error {
	if change.ACL != nil && len(s.ACL) > 0 {
		same := slices.EqualFunc(change.ACL, s.ACL, func(a schema.ACL, b framework.ACL) bool {
			return a.Perms == int32(b.Perms) && a.Scheme == b.Scheme && a.ID == b.ID
		})
		if !same {
			return errors.New("the ACL is not that of the model's spec")
		}
	}
	if change.Op == schema.OpCreate || change.Op == schema.OpSetData {
		if _, err := s.Codec.Decode(change.Data); err != nil {
			return fmt.Errorf("%w: %w", codec.ErrDecode, err)
		}
	}
	return nil
}
