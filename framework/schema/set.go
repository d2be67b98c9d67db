package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Set has the schemas of a client. A nil Set permits everything, like a client without a set.
// The zero Set has no schemas and no default, and permits nothing.
//
// Java: SchemaSet.
type Set struct {
	all        []*Schema // in the order given
	named      map[string]*Schema
	paths      map[string]*Schema
	expr       []*Schema // those with regular expressions, in the order given
	useDefault bool
}

// defaultSchema is that of paths without one, if the set permits them.
var defaultSchema = &Schema{name: "__default__", documentation: "Default schema", canBeDeleted: true}

// NewSet returns the set of schemas. With useDefaultSchema a path without a schema gets a
// default schema, which permits everything. Otherwise every operation on such a path is a
// violation, also on the parents of a recipe's nodes. An empty set is allowed. Errors:
// ErrInvalid, if two schemas have the same name, path or regular expression, or one is nil or
// was not made by a constructor.
//
// Java: new SchemaSet; NewSet(nil, true) is SchemaSet.getDefaultSchemaSet.
func NewSet(schemas []*Schema, useDefaultSchema bool) (*Set, error) {
	set := &Set{
		all:        slices.Clone(schemas),
		named:      map[string]*Schema{},
		paths:      map[string]*Schema{},
		useDefault: useDefaultSchema,
	}
	expressions := map[string]*Schema{}
	for i, s := range set.all {
		if s == nil || s.name == "" {
			return nil, fmt.Errorf("%w: number %d is nil, or zero", ErrInvalid, i+1)
		}
		if _, ok := set.named[s.name]; ok {
			return nil, fmt.Errorf("%w: two are named %q", ErrInvalid, s.name)
		}
		set.named[s.name] = s
		same, what := set.paths, "path"
		if s.expr != nil {
			same, what = expressions, "regular expression"
			set.expr = append(set.expr, s)
		}
		if other, ok := same[s.RawPath()]; ok {
			return nil, fmt.Errorf("%w: %q and %q have the same %s, %s", ErrInvalid, other.name, s.name, what, s.RawPath())
		}
		same[s.RawPath()] = s
	}
	return set, nil
}

// Schemas returns the schemas in the order in which they were given to NewSet, without the
// default one. Java: getSchemas.
func (s *Set) Schemas() []*Schema {
	if s == nil {
		return nil
	}
	return slices.Clone(s.all)
}

// Schema returns the schema for a path: the schema with exactly this path, otherwise the first
// one with a regular expression that matches it, otherwise the default schema. If the set has
// no default, the error is a *Violation.
//
// Java: getSchema.
func (s *Set) Schema(path string) (*Schema, error) { return s.find(Change{Path: path}) }

func (s *Set) find(change Change) (*Schema, error) {
	if s == nil {
		return defaultSchema, nil
	}
	if found, ok := s.paths[change.Path]; ok {
		return found, nil
	}
	for _, candidate := range s.expr {
		if candidate.matches(change.Path) {
			return candidate, nil
		}
	}
	if s.useDefault {
		return defaultSchema, nil
	}
	return nil, violation(nil, change, "there is no schema for this path", nil)
}

// Named returns the schema with a name; ok reports whether there is one. Java: getNamedSchema.
func (s *Set) Named(name string) (found *Schema, ok bool) {
	if s == nil {
		return nil, false
	}
	found, ok = s.named[name]
	return found, ok
}

// NamedPath returns the path or the regular expression of the schema with a name; ok reports
// whether there is one. Java: getNamedPath.
func (s *Set) NamedPath(name string) (path string, ok bool) {
	found, ok := s.Named(name)
	if !ok {
		return "", false
	}
	return found.RawPath(), true
}

// Documentation returns a text for people that describes all schemas, in Java's layout. The
// form may change.
//
// Java: toDocumentation.
func (s *Set) Documentation() string {
	if s == nil || len(s.all) == 0 && s.useDefault {
		return "Default schema"
	}
	var text strings.Builder
	text.WriteString("Curator Schemas:\n\n")
	for _, each := range s.all {
		fmt.Fprintf(&text, "%s\n%s\n", each.name, each.describe())
	}
	return text.String()
}

// ValidateCreate returns a *Violation if the set does not permit the create. data and acl are
// those of the new node, including defaults.
//
// Java: Schema.validateCreate.
func (s *Set) ValidateCreate(path string, ephemeral, sequential bool, data []byte, acl []ACL) error {
	change := Change{Op: OpCreate, Path: path, Data: data, ACL: acl}
	found, err := s.find(change)
	if err != nil {
		return err
	}
	reason := found.ephemeral.refuses(ephemeral, "ephemeral")
	if reason == "" {
		reason = found.sequential.refuses(sequential, "sequential")
	}
	if reason != "" {
		return violation(found, change, reason, nil)
	}
	return found.check(change)
}

// ValidateSetData returns a *Violation if the set does not permit the data.
//
// Java: Schema.validateGeneral.
func (s *Set) ValidateSetData(path string, data []byte) error {
	return s.validate(Change{Op: OpSetData, Path: path, Data: data})
}

// ValidateSetACL returns a *Violation if the set does not permit the ACL.
//
// Java: Schema.validateGeneral.
func (s *Set) ValidateSetACL(path string, acl []ACL) error {
	return s.validate(Change{Op: OpSetACL, Path: path, ACL: acl})
}

func (s *Set) validate(change Change) error {
	found, err := s.find(change)
	if err != nil {
		return err
	}
	return found.check(change)
}

// ValidateDelete returns a *Violation if the set does not permit the delete.
//
// Java: Schema.validateDelete.
func (s *Set) ValidateDelete(path string) error {
	change := Change{Op: OpDelete, Path: path}
	found, err := s.find(change)
	if err == nil && !found.canBeDeleted {
		err = violation(found, change, "cannot be deleted", nil)
	}
	return err
}

// ValidateRead returns a *Violation if the set does not permit a read of the node, its children
// or its existence with, or without, a watch.
//
// Java: Schema.validateWatch.
func (s *Set) ValidateRead(path string, watched bool) error {
	change := Change{Op: OpRead, Path: path}
	found, err := s.find(change)
	if err != nil {
		return err
	}
	if reason := found.watched.refuses(watched, "watched"); reason != "" {
		err = violation(found, change, reason, nil)
	}
	return err
}
