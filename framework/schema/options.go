package schema

import (
	"errors"
	"fmt"
	"maps"
)

// Option is an option of a schema; see New.
type Option interface{ apply(*Schema) error }

type option func(*Schema) error

func (o option) apply(s *Schema) error { return o(s) }

// WithDocumentation adds a text for people. The default is none. Java: documentation.
func WithDocumentation(text string) Option {
	return option(func(s *Schema) error {
		s.documentation = text
		return nil
	})
}

// WithValidator sets the validator of data and ACL, which must not be nil. The default permits
// any. Java: dataValidator.
func WithValidator(validator Validator) Option {
	return option(func(s *Schema) error {
		if validator == nil {
			return errors.New("WithValidator(nil)")
		}
		s.validator = validator
		return nil
	})
}

// WithEphemeral says whether the node can, must or cannot be created as an ephemeral one.
// The default is Can. Java: ephemeral.
func WithEphemeral(a Allowance) Option {
	return allow("WithEphemeral", a, func(s *Schema) { s.ephemeral = a })
}

// WithSequential says whether the node can, must or cannot be created with a number behind
// its name. The default is Can. Java: sequential.
func WithSequential(a Allowance) Option {
	return allow("WithSequential", a, func(s *Schema) { s.sequential = a })
}

// WithWatched says whether a read of the node can, must or cannot set a watch. The default is
// Can. Java: watched.
func WithWatched(a Allowance) Option {
	return allow("WithWatched", a, func(s *Schema) { s.watched = a })
}

func allow(name string, a Allowance, set func(*Schema)) Option {
	return option(func(s *Schema) error {
		if !a.valid() {
			return fmt.Errorf("%s(%d): there is no such allowance", name, int(a))
		}
		set(s)
		return nil
	})
}

// WithCanBeDeleted says whether the node may be deleted. The default is true; in a file,
// see LoadJSON, it is false. Java: canBeDeleted.
func WithCanBeDeleted(can bool) Option {
	return option(func(s *Schema) error {
		s.canBeDeleted = can
		return nil
	})
}

// WithMetadata adds values for the user's own purposes; metadata is copied. The default is
// none. Java: metadata.
func WithMetadata(metadata map[string]string) Option {
	metadata = maps.Clone(metadata)
	return option(func(s *Schema) error {
		s.metadata = metadata
		return nil
	})
}
