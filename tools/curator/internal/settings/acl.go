package settings

import (
	"errors"
	"fmt"
	"strings"

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
