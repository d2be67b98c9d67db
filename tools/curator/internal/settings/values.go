package settings

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-curator/curator/framework"
)

// ParseACL parses an ACL: open, creator, or entries scheme:id:perms separated by commas, as in
// ZooKeeper's shell. An id may contain colons and commas, as those of the scheme x509 do.
func ParseACL(text string) ([]framework.ACL, error) {
	switch text {
	case "":
		return nil, errors.New("the ACL is empty")
	case "open":
		return framework.OpenACLUnsafe(), nil
	case "creator":
		return framework.CreatorAllACL(), nil
	}
	var list []framework.ACL
	entry := ""
	for part := range strings.SplitSeq(text, ",") {
		entry += part
		acl, ok := parseEntry(entry)
		if !ok { // the comma is part of the id
			entry += ","
			continue
		}
		list, entry = append(list, acl), ""
	}
	if entry != "" {
		return nil, fmt.Errorf("%q is not scheme:id:perms with perms from the letters cdrwa, such as world:anyone:r", strings.TrimSuffix(entry, ","))
	}
	return list, nil
}

// permissions are the letters that ZooKeeper's shell has for permissions.
var permissions = map[rune]framework.Perm{
	'c': framework.PermCreate, 'd': framework.PermDelete, 'r': framework.PermRead,
	'w': framework.PermWrite, 'a': framework.PermAdmin,
}

func parseEntry(entry string) (acl framework.ACL, ok bool) {
	scheme, rest, _ := strings.Cut(entry, ":")
	i := strings.LastIndex(rest, ":")
	if scheme == "" || i < 0 || rest[i+1:] == "" {
		return acl, false
	}
	acl.Scheme, acl.ID = scheme, rest[:i]
	for _, letter := range rest[i+1:] {
		perm, known := permissions[letter]
		if !known {
			return acl, false
		}
		acl.Perms |= perm
	}
	return acl, true
}

// Duration is the value of a flag with a duration from Least to Most. Zero is valid if Least is
// zero; any other value below a millisecond is refused as a mistake.
type Duration struct {
	Value       *time.Duration
	Least, Most time.Duration
}

// String returns the value, "" for zero.
func (d Duration) String() string {
	if d.Value == nil || *d.Value == 0 {
		return ""
	}
	return d.Value.String()
}

// Type returns the name of the value in the help.
func (d Duration) Type() string { return "D" }

// Set parses the value.
func (d Duration) Set(text string) error {
	v, err := time.ParseDuration(text)
	switch {
	case err != nil && text != "" && strings.Trim(text, "0123456789.") == "":
		return fmt.Errorf("it needs a unit, such as %ss or %[1]sms", text)
	case err != nil:
		return errors.New("it is not a duration such as 500ms, 10s or 1h30m")
	case v < 0:
		return errors.New("it must not be negative")
	case v == 0 && d.Least > 0:
		return errors.New("it must be more than zero")
	case v < d.Least:
		return fmt.Errorf("it must be at least %v", d.Least)
	case v > 0 && v < time.Millisecond:
		return errors.New("it must be at least 1ms")
	case v > d.Most:
		return fmt.Errorf("it must be at most %v", d.Most)
	}
	*d.Value = v
	return nil
}
