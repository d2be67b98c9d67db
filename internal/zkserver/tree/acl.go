package tree

import (
	"crypto/sha1"
	"encoding/base64"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/go-curator/curator/internal/jute"
)

// The schemes of authentication.
const (
	schemeWorld  = "world"
	schemeAuth   = "auth"
	SchemeDigest = "digest"
	SchemeIP     = "ip"
)

var (
	anyone  = jute.ID{Scheme: schemeWorld, ID: "anyone"}
	openACL = []jute.ACL{{Perms: jute.PermAll, ID: anyone}}
	readACL = []jute.ACL{{Perms: jute.PermRead, ID: anyone}}
)

// DigestID returns the identity of a client that presents the credentials "user:password".
func DigestID(credentials []byte) jute.ID {
	user, _, _ := strings.Cut(string(credentials), ":")
	sum := sha1.Sum(credentials)
	return jute.ID{Scheme: SchemeDigest, ID: user + ":" + base64.StdEncoding.EncodeToString(sum[:])}
}

// AddressID returns the identity that a client has by its IP address.
func AddressID(address netip.Addr) jute.ID {
	return jute.ID{Scheme: SchemeIP, ID: address.Unmap().String()}
}

// permits tells whether acl grants perm to a client with the identities. An empty acl grants
// everything.
func permits(acl []jute.ACL, perm int32, identities []jute.ID) bool {
	if len(acl) == 0 {
		return true
	}
	return slices.ContainsFunc(acl, func(a jute.ACL) bool {
		return a.Perms&perm != 0 && (a.ID == anyone || slices.ContainsFunc(identities, func(id jute.ID) bool {
			return matches(a.ID, id)
		}))
	})
}

// matches tells whether the identity is one that an ACL's pattern names.
func matches(pattern, identity jute.ID) bool {
	if pattern.Scheme != identity.Scheme {
		return false
	}
	switch pattern.Scheme {
	case SchemeDigest:
		return pattern.ID == identity.ID
	case SchemeIP:
		network, ok := parseNetwork(pattern.ID)
		addr, err := netip.ParseAddr(identity.ID)
		return ok && err == nil && network.Contains(addr)
	default:
		return false
	}
}

// parseNetwork reads the identity of the scheme ip: an address and, maybe, how many of its
// bits count. An IPv6 address has hexadecimal numbers only.
func parseNetwork(id string) (netip.Prefix, bool) {
	address, length, cut := strings.Cut(id, "/")
	addr, err := netip.ParseAddr(address)
	if err != nil || addr.Is6() && strings.ContainsAny(address, ".%") {
		return netip.Prefix{}, false
	}
	bits := addr.BitLen()
	if cut {
		if bits, err = strconv.Atoi(length); err != nil {
			return netip.Prefix{}, false
		}
	}
	network, err := addr.Prefix(bits)
	return network, err == nil
}

// expandACL returns the ACL that a node gets when a client with the identities gives acl:
// without duplicates, with the scheme "auth" replaced by those identities that a client
// has proven. It is false for an ACL that is empty or has an identity that no scheme accepts.
func (r Release) expandACL(acl []jute.ACL, identities []jute.ID) ([]jute.ACL, bool) {
	var expanded []jute.ACL
	for i, a := range acl {
		if slices.Contains(acl[:i], a) {
			continue
		}
		if a.ID.Scheme != schemeAuth {
			if !r.accepts(a.ID) {
				return nil, false
			}
			expanded = append(expanded, a)
			continue
		}
		proven := false
		for _, id := range identities {
			if id.Scheme == SchemeDigest {
				expanded = append(expanded, jute.ACL{Perms: a.Perms, ID: id})
				proven = true
			}
		}
		if !proven {
			return nil, false
		}
	}
	return expanded, len(expanded) > 0
}

// accepts tells whether an identity can stand in an ACL.
func (r Release) accepts(id jute.ID) bool {
	switch id.Scheme {
	case schemeWorld:
		return id == anyone
	case SchemeDigest:
		return strings.Count(strings.TrimRight(id.ID, ":"), ":") == 1
	case SchemeIP:
		network, ok := parseNetwork(id.ID)
		return ok && (network.Addr().Is4() || r.acceptsIPv6())
	default:
		return false
	}
}

// withoutSecrets returns acl as a client sees it that may read but not administer the node.
func withoutSecrets(acl []jute.ACL) []jute.ACL {
	masked := slices.Clone(acl)
	for i := range masked {
		if user, _, cut := strings.Cut(masked[i].ID.ID, ":"); cut && masked[i].ID.Scheme == SchemeDigest {
			masked[i].ID.ID = user + ":x"
		}
	}
	return masked
}
