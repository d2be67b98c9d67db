package framework

import "github.com/go-curator/curator/state"

// decidedPolicy has the answers of an error policy. The policy is a user's code, and recipes need the
// answers where nothing may block: where deadlines are told.
type decidedPolicy [state.ReadOnly + 1]bool

func decide(p state.ErrorPolicy) *decidedPolicy {
	var d decidedPolicy
	for s := state.Connected; s <= state.ReadOnly; s++ {
		d[s] = p.IsErrorState(s)
	}
	return &d
}

// IsErrorState returns the policy's answer, false for what is no state.
func (d *decidedPolicy) IsErrorState(s state.ConnectionState) bool {
	return s > 0 && int(s) < len(d) && d[s]
}
