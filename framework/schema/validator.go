package schema

import (
	"fmt"
	"slices"
)

// Op names a checked operation, with the word of the client's errors.
type Op string

// The operations.
const (
	// OpCreate creates a node; it has data and an ACL.
	OpCreate Op = "create"
	// OpSetData changes the data of a node; it has no ACL.
	OpSetData Op = "setData"
	// OpSetACL changes the ACL of a node; it has no data.
	OpSetACL Op = "setACL"
	// OpDelete deletes a node. Validators do not see it.
	OpDelete Op = "delete"
	// OpRead reads a node, with or without a watch. Validators do not see it.
	OpRead Op = "read"
)

// ACL grants permissions to an identity: a framework.ACL, which this package must not
// import. Perms are the bits of the protocol: 1 read, 2 write, 4 create, 8 delete, 16
// admin.
type ACL struct {
	Perms      int32
	Scheme, ID string
}

// Change describes an operation before it is sent.
//
// Java: SchemaViolation.ViolatorData.
type Change struct {
	Op   Op // "" if it was only asked for the schema
	Path string
	Data []byte // nil if the operation has none
	ACL  []ACL  // nil if the operation has none
}

// Validator judges the data and the ACL of a node.
//
// Java: SchemaValidator.
type Validator interface {
	// Validate returns nil if it permits the change, otherwise an error with the reason. It is
	// called on the operation's goroutine, also by several goroutines at the same time. It must
	// neither change nor keep its argument, and must not use the client that calls it.
	Validate(s *Schema, change Change) error
}

// ValidatorFunc is a function that is a Validator.
type ValidatorFunc func(s *Schema, change Change) error

// Validate calls f.
func (f ValidatorFunc) Validate(s *Schema, change Change) error { return f(s, change) }

// Violation is the error of an operation that a schema does not permit, or that has no
// schema in a set without a default. Match it with errors.As. Nothing was sent.
//
// Java: SchemaViolation.
type Violation struct {
	Schema *Schema // nil if the path has none
	Reason string  // "must be ephemeral", ...
	Change Change  // a copy
	Err    error   // the validator's, else nil
}

// Error returns `create /a/b: must be ephemeral (schema "jobs")`. It does not contain the data,
// which may be large or secret.
func (v *Violation) Error() string {
	text := fmt.Sprintf("%s: %s", v.Change.Path, v.Reason)
	if v.Change.Op != "" {
		text = string(v.Change.Op) + " " + text
	}
	if v.Err != nil {
		text += ": " + v.Err.Error()
	}
	if v.Schema != nil {
		text += fmt.Sprintf(" (schema %q)", v.Schema.name)
	}
	return text
}

// Unwrap returns Err.
func (v *Violation) Unwrap() error { return v.Err }

// violation makes an error of a change, with copies of what the caller may change.
func violation(s *Schema, change Change, reason string, err error) error {
	change.Data, change.ACL = slices.Clone(change.Data), slices.Clone(change.ACL)
	return &Violation{Schema: s, Reason: reason, Change: change, Err: err}
}

// check asks the validator.
func (s *Schema) check(change Change) error {
	if s.validator == nil {
		return nil
	}
	if err := s.validator.Validate(s, change); err != nil {
		return violation(s, change, "is not valid", err)
	}
	return nil
}
