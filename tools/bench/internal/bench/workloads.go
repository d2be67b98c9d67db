package bench

import (
	"regexp"
	"slices"
)

// workloads returns all workloads, in the order of the report.
func workloads() []workload { return append(lockWorkloads(), recipeWorkloads()...) }

// choose returns the workloads whose names match -run. Without -run it returns all, those of a quick
// run, or with a distance those in which round trips matter.
func (o *options) choose() ([]workload, error) {
	match, err := regexp.Compile(o.match)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(workloads(), func(w workload) bool {
		switch {
		case o.match != "":
			return !match.MatchString(w.name)
		case o.quick:
			return !w.quick
		}
		return o.distance > 0 && !w.distant
	}), nil
}
