package checks

import (
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
)

// All returns the checks, in the order of the package comment. Each call creates new analyzers.
func All() []*analysis.Analyzer {
	all := []*analysis.Analyzer{
		{Name: "outercontext", Doc: outerContextDoc, Run: outerContext},
		{Name: "ignoredcontext", Doc: ignoredContextDoc, Run: ignoredContext},
		{Name: "droppedlease", Doc: droppedLeaseDoc, Run: droppedLease},
		{Name: "unfinishedbuilder", Doc: unfinishedBuilderDoc, Run: unfinishedBuilder},
		{Name: "deferredrelease", Doc: deferredReleaseDoc, Run: deferredRelease},
		{Name: "cacheddecision", Doc: cachedDecisionDoc, Run: cachedDecision},
		{Name: "leadershipnil", Doc: leadershipNilDoc, Run: leadershipNil},
	}
	for _, a := range all {
		a.URL = "https://" + module + "/blob/main/docs/curatorvet.md#" + a.Name
		a.Requires = []*analysis.Analyzer{inspect.Analyzer}
		a.Run = withoutIgnored(a.Name, a.Run)
	}
	return all
}
