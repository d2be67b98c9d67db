package requests_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maySend matches the exported functions that need a case or an excuse: those with a context, iterators,
// options, the steps of builders, and the operations of transactions.
var maySend = regexp.MustCompile(`context\.Context|iter\.Seq\[|(Option|Builder|Op|View)$`)

// notHere are those of them that need no case, and why.
var notHere = []struct{ names, why string }{
	{`: func New\w+.*\(`, "constructors send nothing until Start or a call, whose cases they are in"},
	{`\) (Close|Release|Leave)\(context\.Context\) error`, "are steps of the cases of Start and of Acquire"},
	{`\) (Context|Bind|IsOwnedBy)\(`, "ask no server"},
	{`istener\w*\)? ?\w*\(|ListenerBuilder\) Build|ServiceProvider\) Choose`, "take or return a function"},
	{`method \(\*Client\) \w+\(\) (\w+Builder|TransactionOp|WatcherRemovingView)$|\(\*Watches\) (Add|Remove)\(`, "begin a chain"},
	{`\(WatcherRemovingView\)`, "are the client's"},
	{`\((Check|Create|Delete|SetData)Op\) (Compressed|ForPath|Uncompressed|WithACL|WithData|WithMode|WithTTL|WithVersion)\(|\(TransactionOp\)`, "are in the cases of ForOperations"},
	{`\(ModeledFramework\) (Check|Delete|Update)Op`, "are in the case of CreateOp"},
	{`: func Run\(`, "starts and closes what has cases"},
	{`: func WithName\(|: func With(out)?Tracing\(|func WithOwnerLabel`, "is for spans, metrics and data, but for the cases of WithTracing"},
	{`: func With(CompressionProvider|DefaultData|EnabledKey|PayloadClass)\(`, "change data"},
	{`: func With(ConnectionTimeout|FailFast|JuteMaxBuffer|LossMargin|MaxCloseWait|MaxInFlight|SimulatedSessionExpirationPercent|MaxData|MaxReply)\(`, "change times and limits"},
	{`: func With(Dialer|EnsembleProvider|Resolver|TLS)\(`, "change how servers are found and dialed"},
	{`: func With(ErrorPolicy|Logger|SessionTimeout)\(|WithoutEnsembleTracker`, "the clients of the cases have them"},
	{`: func WithSASL\(`, "the embedded server has no SASL"},
	{`func OnNode\(|func WithTurns\(`, "are for the recipes of this module, in whose cases they are"},
	{`StandardLockInternalsDriver`, "is what every mutex has"},
}

// TestComplete finds exported operations without a case.
func TestComplete(t *testing.T) {
	text, err := os.ReadFile("../../docs/api.txt")
	if err != nil {
		t.Fatal(err)
	}
	tested, unknown := map[string]bool{}, map[string]bool{} // unknown are not exported
	for _, c := range cases() {
		tested[c.op], unknown[c.op] = true, true
	}
	name := regexp.MustCompile(`^((?:framework(?:/paths)?|recipes/\w+): )(?:method|func) ((?:\([^)]*\) )?\w+)`)
	used := make([]bool, len(notHere))
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		m := name.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		op := m[1] + m[2]
		delete(unknown, op)
		i := slices.IndexFunc(notHere, func(n struct{ names, why string }) bool { return regexp.MustCompile(n.names).MatchString(line) })
		if i >= 0 && maySend.MatchString(line) {
			used[i] = true
		} else if maySend.MatchString(line) && !tested[op] {
			t.Errorf("%s may send requests, and has no case", op)
		}
	}
	for op := range unknown {
		t.Errorf("%s has a case, and is not exported", op)
	}
	for i, n := range notHere {
		if !used[i] {
			t.Errorf("nothing exported matches %q", n.names)
		}
	}
}
