package matrix

import (
	"fmt"
	"strings"
)

// Feature is something that some releases have.
type Feature struct {
	Name    string
	Shown   []Case // the cases that pass if a release has it
	Without string // what the library does on a release that does not have it
}

// Features are the rows of the table in docs/platforms.md.
func Features() []Feature {
	const own, notUsed = "internal/verify/matrix", "not used by the library"
	return []Feature{
		{"persistent watches", []Case{{"framework", "TestSteps/Add/real"}, {own, "TestRequests/addWatch"}},
			"caches and queues use one-shot watches; `Watches().Add`, `PersistentWatcher` and `GroupMember` get `ErrUnimplemented`, which names 3.6"},
		{"containers", []Case{{own, "TestRequests/createContainer"}}, ""},
		{"nodes with a time to live (createTTL)", []Case{{own, "TestRequests/createTTL"}, {"recipes/nodes", "TestTTLTraffic/real"}},
			"`ErrUnimplemented`, which names 3.5.4 and the server's setting `extendedTypesEnabled`"},
		{"create2", []Case{{own, "TestRequests/create2"}}, ""},
		{"multiRead", []Case{{own, "TestRequests/multiRead"}}, notUsed},
		{"getEphemerals", []Case{{own, "TestRequests/getEphemerals"}}, "the client limits no ephemeral nodes, and need not"},
		{"closeSession with the paths of all ephemeral nodes (ZOOKEEPER-4306)", []Case{{"framework", "TestCloseSessionEndsServer"}},
			"the size of a session's ephemeral nodes has no limit"},
		{"getAllChildrenNumber", []Case{{own, "TestRequests/getAllChildrenNumber"}}, notUsed},
		{"whoAmI", []Case{{own, "TestRequests/whoAmI"}}, notUsed},
		{"throttled requests, which the client repeats", []Case{{own, "TestThrottled"}}, "no request is throttled"},
		{"SASL (DIGEST-MD5)", []Case{{"framework", "TestSASLOfRealServer"}}, ""},
		{"TLS, client certificates", []Case{{"framework", "TestTLSOfRealServer"}, {"framework", "TestX509ACL"}}, ""},
		{"the server's certificate is reloaded (`client.certReload`)", []Case{{own, "TestCertificateReloaded"}}, "restart the server"},
		{"reads without a quorum (`WithReadOnly`)", []Case{{"framework", "TestReadOnlyOfRealServers"}},
			"3.5 has such reads, but the test needs persistent watches; up to 3.6 such a server takes sessions that are the quorum's"},
		{"reconfiguration", []Case{{"framework", "TestReconfigEnsemble"}}, ""},
		{"four-letter words", []Case{{own, "TestFourLetterWords"}}, ""},
		{"AdminServer", []Case{{own, "TestAdminServer/ruok"}}, ""},
		{"... leader, voting_view", []Case{{own, "TestAdminServer/leader"}, {own, "TestAdminServer/voting_view"}}, notUsed},
		{"... snapshot, restore", []Case{{own, "TestAdminServer/snapshot"}, {own, "TestAdminServer/restore"}}, notUsed},
	}
}

// Column is a release and what it has.
type Column struct {
	Version string
	Results Results
	Verdict Verdict
}

// Page returns the table of features by release.
func Page(columns []Column, features []Feature) (string, error) {
	var page strings.Builder
	page.WriteString("| feature |")
	for _, c := range columns {
		fmt.Fprintf(&page, " %s |", c.Version)
	}
	page.WriteString(" where it is absent |\n| --- |" + strings.Repeat(" --- |", len(columns)) + " --- |\n")
	for _, f := range features {
		fmt.Fprintf(&page, "| %s |", f.Name)
		for _, c := range columns {
			cell, err := c.cell(f)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&page, " %s |", cell)
		}
		fmt.Fprintf(&page, " %s |\n", f.Without)
	}
	page.WriteString("| cases that passed |")
	for _, c := range columns {
		fmt.Fprintf(&page, " %d |", c.Verdict.Passed)
	}
	page.WriteString(" |\n| cases that failed with the error that they must get |")
	for _, c := range columns {
		fmt.Fprintf(&page, " %d |", len(c.Verdict.Refused))
	}
	page.WriteString(" |\n")
	return page.String(), nil
}

// cell says whether the release has a feature.
func (c Column) cell(f Feature) (string, error) {
	has := "yes"
	for _, shown := range f.Shown {
		result, ran := c.Results.Cases[shown]
		if !ran {
			return "", fmt.Errorf("%s: %v, which shows %s, was not run", c.Version, shown, f.Name)
		}
		if failed(result) {
			has = "no"
		}
	}
	return has, nil
}
