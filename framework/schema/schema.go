// Package schema describes the permitted nodes: their modes, whether they may be deleted or
// watched, and their data and ACLs. A client with a [Set] checks its operations against it
// before it sends them.
//
// A schema only affects clients that use it. The server does not know it, so it affects neither
// other clients nor the server's own removal of ephemeral and container nodes. It does not
// replace ACLs. The client does not check parents that an operation creates, children that it
// deletes, watches that a reconnect sets again, and nodes that exist already.
//
// Paths are without the client's namespace, without the prefix of protection, and without the
// number of a sequential node, so a sequential create below /jobs may have the path "/jobs/".
//
// Schemas and sets are immutable and safe for concurrent use. Validators must be safe for
// concurrent use, too. Nothing blocks or does I/O except [LoadJSON], which reads its reader to
// the end. A lookup takes one map access and, if no schema has exactly that path, matches the
// regular expressions until one fits.
//
// The counterpart in Java is org.apache.curator.framework.schema. Files for Java's
// SchemaSetLoader can be shared, within the limits described at [LoadJSON] and [NewRegexp].
// Unlike in Java, a validator gets the operation and returns an error, the root can have a
// schema, and two schemas cannot have the same regular expression.
package schema

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// ErrInvalid says that a schema, a set or a file of schemas is not valid.
var ErrInvalid = errors.New("invalid schema")

// Allowance says whether something is allowed, required or forbidden. The zero value is Can.
//
// Java: Schema.Allowance.
type Allowance int

// The allowances.
const (
	// Can allows it.
	Can Allowance = iota
	// Must requires it.
	Must
	// Cannot forbids it.
	Cannot
)

var allowanceNames = [...]string{Can: "can", Must: "must", Cannot: "cannot"}

func (a Allowance) valid() bool { return a >= Can && a <= Cannot }

// String returns "can", "must" or "cannot", as in a file.
func (a Allowance) String() string {
	if !a.valid() {
		return fmt.Sprintf("Allowance(%d)", int(a))
	}
	return allowanceNames[a]
}

// refuses returns what is wrong with a choice, "" if nothing is.
func (a Allowance) refuses(chosen bool, what string) string {
	switch {
	case chosen && a == Cannot:
		return "cannot be " + what
	case !chosen && a == Must:
		return "must be " + what
	}
	return ""
}

// Schema has the rules for the node at one path, or for the nodes at paths that match a regular
// expression. The zero value has no path, and NewSet refuses it.
//
// Java: Schema.
type Schema struct {
	name          string
	path          string         // "" with a regular expression
	expr          *regexp.Regexp // nil with a path
	documentation string
	validator     Validator // nil for none
	ephemeral     Allowance
	sequential    Allowance
	watched       Allowance
	canBeDeleted  bool
	metadata      map[string]string
}

// New returns the schema of the node at path and of no other. name must not be empty; in a
// Set it is unique. A slash at the end of path is dropped, as in Java. Without options
// everything is permitted. Errors: ErrInvalid.
//
// Java: Schema.builder(String).
func New(name, path string, opts ...Option) (*Schema, error) {
	if reason := pathError(path); reason != "" {
		return nil, fmt.Errorf("%w %q: path %q: %s", ErrInvalid, name, path, reason)
	}
	s := &Schema{name: name, path: path, canBeDeleted: true}
	if path != "/" {
		s.path = strings.TrimSuffix(path, "/")
	}
	return s.with(opts)
}

// NewRegexp returns the schema of the nodes whose whole path matches expr: "/jobs/.*" matches
// nodes below /jobs, at any depth, but not /jobs. Without options everything is permitted.
// Errors: ErrInvalid.
//
// The syntax is that of package regexp, which differs from Java's. It has no lookahead or
// lookbehind, back references, possessive quantifiers or flag x, and returns an error for them.
// These have a different meaning, without an error: (?U), (?i) beyond ASCII, and within
// brackets [a-z&&[aeiou]] and [a[bc]], which Java reads as an intersection and as a union.
//
// Java: Schema.builder(Pattern).
func NewRegexp(name, expr string, opts ...Option) (*Schema, error) {
	if expr == "" {
		return nil, fmt.Errorf("%w %q: the regular expression is empty", ErrInvalid, name)
	}
	compiled, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w (the syntax is Go's, not Java's)", ErrInvalid, name, err)
	}
	compiled.Longest() // see matches
	s := &Schema{name: name, expr: compiled, canBeDeleted: true}
	return s.with(opts)
}

// ForRecipeParent returns the schema of the parent node of a recipe, such as a lock. The node
// can be neither ephemeral nor sequential, unless opts say otherwise.
//
// Java: Schema.builderForRecipeParent.
func ForRecipeParent(name, parentPath string, opts ...Option) (*Schema, error) {
	defaults := []Option{WithEphemeral(Cannot), WithSequential(Cannot)}
	return New(name, parentPath, append(defaults, opts...)...)
}

// ForRecipe returns the schema of the nodes that a recipe creates below parentPath: they
// must be ephemeral, sequential and watched, unless opts say otherwise. parentPath is taken
// literally; Java reads it as a part of the regular expression.
//
// Java: Schema.builderForRecipe.
func ForRecipe(name, parentPath string, opts ...Option) (*Schema, error) {
	if reason := pathError(parentPath); reason != "" {
		return nil, fmt.Errorf("%w %q: path %q: %s", ErrInvalid, name, parentPath, reason)
	}
	defaults := []Option{WithEphemeral(Must), WithSequential(Must), WithWatched(Must)}
	expr := regexp.QuoteMeta(strings.TrimSuffix(parentPath, "/")) + "/.*"
	return NewRegexp(name, expr, append(defaults, opts...)...)
}

// with applies the options.
func (s *Schema) with(opts []Option) (*Schema, error) {
	if s.name == "" {
		return nil, fmt.Errorf("%w for %s: it has no name", ErrInvalid, s.RawPath())
	}
	for _, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("%w %q: an option is nil", ErrInvalid, s.name)
		}
		if err := o.apply(s); err != nil {
			return nil, fmt.Errorf("%w %q: %w", ErrInvalid, s.name, err)
		}
	}
	return s, nil
}

// pathError says what is wrong with a path, "" if nothing is; it may end in a slash. It
// finds what a user may well get wrong; the client refuses the rest.
func pathError(path string) string {
	switch {
	case path == "":
		return "it is empty"
	case path[0] != '/':
		return "it does not begin with a slash"
	case !utf8.ValidString(path):
		return "it is not valid UTF-8"
	case path == "/":
		return ""
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(path[1:], "/"), "/") {
		switch name {
		case "":
			return "it contains an empty name"
		case ".", "..":
			return "it contains a relative name"
		}
	}
	return ""
}

// matches tells whether the regular expression matches the whole path. The expression
// prefers the leftmost and then the longest match, so that a match of the whole is found
// if there is one. Anchors around the expression would do the same for most expressions,
// but not for "\Qa" or "a)(b".
func (s *Schema) matches(path string) bool {
	found := s.expr.FindStringIndex(path)
	return found != nil && found[0] == 0 && found[1] == len(path)
}

// Name returns the name. Java: getName.
func (s *Schema) Name() string { return s.name }

// Path returns the path, "" if the schema has a regular expression. Java: getPath.
func (s *Schema) Path() string { return s.path }

// RawPath returns the path or the regular expression. Java: getRawPath.
func (s *Schema) RawPath() string {
	if s.expr != nil {
		return s.expr.String()
	}
	return s.path
}

// IsRegexp reports whether RawPath is a regular expression. Java: getPathRegex() != null.
func (s *Schema) IsRegexp() bool { return s.expr != nil }

// Documentation returns the text of WithDocumentation. Java: getDocumentation.
func (s *Schema) Documentation() string { return s.documentation }

// Validator returns the validator, nil if there is none. Java: getSchemaValidator.
func (s *Schema) Validator() Validator { return s.validator }

// Ephemeral returns whether the node can, must or cannot be ephemeral. Java: getEphemeral.
func (s *Schema) Ephemeral() Allowance { return s.ephemeral }

// Sequential returns whether the node can, must or cannot be sequential. Java: getSequential.
func (s *Schema) Sequential() Allowance { return s.sequential }

// Watched returns whether a read of the node can, must or cannot set a watch. Java: getWatched.
func (s *Schema) Watched() Allowance { return s.watched }

// CanBeDeleted reports whether the node may be deleted. Java: canBeDeleted.
func (s *Schema) CanBeDeleted() bool { return s.canBeDeleted }

// Metadata returns a copy of the metadata, which may be nil. Java: getMetadata.
func (s *Schema) Metadata() map[string]string { return maps.Clone(s.metadata) }

// describe returns the schema in the words of Java's Schema.toDocumentation.
func (s *Schema) describe() string {
	label, validator := "Path", "none"
	if s.expr != nil {
		label = "Path Regex"
	}
	if s.validator != nil {
		validator = fmt.Sprintf("%T", s.validator)
	}
	var meta []string
	for _, key := range slices.Sorted(maps.Keys(s.metadata)) {
		meta = append(meta, key+"="+s.metadata[key])
	}
	return fmt.Sprintf("Name: %s\n%s: %s\nDoc: %s\nValidator: %s\nMeta: {%s}\n"+
		"ephemeral: %s | sequential: %s | watched: %s | canBeDeleted: %t\n",
		s.name, label, s.RawPath(), s.documentation, validator, strings.Join(meta, ", "),
		s.ephemeral, s.sequential, s.watched, s.canBeDeleted)
}

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
