package ensemble

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// serversOf returns host:port of every record that names a server, the best priority first,
// and what is wrong with the other records. The same records give the same list, in whatever
// order DNS has them: a list that differs makes the client begin with its servers anew.
func serversOf(records []*net.SRV) (servers []string, wrong error) {
	records = slices.DeleteFunc(slices.Clone(records), func(r *net.SRV) bool { return r == nil })
	slices.SortFunc(records, func(a, b *net.SRV) int {
		return cmp.Or(
			cmp.Compare(a.Priority, b.Priority),
			cmp.Compare(b.Weight, a.Weight),
			cmp.Compare(host(a), host(b)),
			cmp.Compare(a.Port, b.Port))
	})
	var problems []string
	for _, r := range records {
		server, err := serverOf(r)
		switch {
		case err != nil:
			problems = append(problems, err.Error())
		case !slices.Contains(servers, server):
			servers = append(servers, server)
		}
	}
	if len(problems) > 0 {
		wrong = errors.New(strings.Join(problems, ", "))
	}
	return servers, wrong
}

// host returns a record's target without the dot at its end, in lower case: some resolvers
// change the case of names at random with every question, and a target may share its end with
// the name that was asked for.
func host(r *net.SRV) string { return strings.ToLower(strings.TrimSuffix(r.Target, ".")) }

func serverOf(r *net.SRV) (string, error) {
	name := host(r)
	switch {
	case name == "":
		return "", errors.New(`the target "." says that the service is not available`)
	case !validHost(name):
		return "", fmt.Errorf("the target %q is no valid host name", r.Target)
	case r.Port == 0:
		return "", fmt.Errorf("the target %q has port 0", r.Target)
	}
	return net.JoinHostPort(name, strconv.Itoa(int(r.Port))), nil
}
