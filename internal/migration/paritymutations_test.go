package migration_test

import (
	"slices"
	"strings"
	"testing"
)

// parityMutations are mistakes in docs/parity.md: old becomes replacement, once, and what is said about it
// contains wrong.
var parityMutations = []struct{ name, old, replacement, wrong string }{
	// The form of the page.
	{"text before the table", "## CreateBuilder\n", "## CreateBuilder\n\nSome words.\n", "CreateBuilder does not begin with a table"},
	{"blank line in a table", "| `CreateBuilder.withTtl`", "\n| `CreateBuilder.withTtl`", "is not a row"},
	{"Java's name without backticks", "| `CuratorFramework.blockUntilConnected(time, unit)` |", "| CuratorFramework.blockUntilConnected(time, unit) |", "is not a row"},
	{"one of two names without backticks", "`CuratorFramework.inTransaction`, `CuratorTransaction.*`", "`CuratorFramework.inTransaction`, CuratorTransaction.*", "is not a row"},
	{"text behind Java's name", "| `CreateBuilder.withTtl` |", "| `CreateBuilder.withTtl` or so |", "is not a row"},
	{"Java's name without its type", "| `CreateBuilder.withTtl` |", "| `withTtl` |", "is not a row"},
	{"type without a method", "| `CreateBuilder.withACL(list, true)` | `CreateBuilder.WithACLOnParents` |  |", "| `CreateBuilder.` | `CreateBuilder.WithACLOnParents` | newer than 5.4 |", "is not a row"},
	{"nothing in backticks", "| `CreateBuilder.withTtl` |", "| `` |", "is not a row"},
	{"no name of Java", "| `CreateBuilder.withTtl` |", "|  |", `begins with "Java has none"`},
	{"Java has none, with a name", "|  | `TransactionBuilder.Idempotent`", "| `CuratorMultiTransaction.forOperations` | `TransactionBuilder.Idempotent`", `begins with "Java has none"`},
	{"our name without backticks", "| `CreateBuilder.WithTTL` |", "| CreateBuilder.WithTTL |", "is not a row"},
	{"name and reason", "| `CreateBuilder.WithTTL` |", "| `CreateBuilder.WithTTL`, *needless* |", "is not a row"},
	{"neither name nor reason", "| `CreateBuilder.WithTTL` |", "|  |", "is not a row"},
	{"four cells", "| `CreateBuilder.WithTTL` |  |", "| `CreateBuilder.WithTTL` |  |  |", "is not a row"},
	{"text behind the row", "| `CreateBuilder.WithTTL` |  |", "| `CreateBuilder.WithTTL` |  | more", "is not a row"},

	// Java's methods.
	{"method without a row", "| `ZKPaths.split` | `paths.Split` |  |\n", "", "no row has ZKPaths.split"},
	{"two rows", "| `ZKPaths.split` |", "| `ZKPaths.makePath` |", "ZKPaths.makePath has two rows"},
	{"unknown method", "| `ZKPaths.split` |", "| `ZKPaths.splits` |", "Java has no ZKPaths.splits"},
	{"unknown step of every builder", "`*.inBackground()`", "`*.inForeground()`", "Java has no *.inForeground"},
	{"unknown method with the remark", "| `ZKPaths.split` | `paths.Split` |  |", "| `ZKPaths.splits` | `paths.Split` | newer than 5.4 |", "Java has no ZKPaths.splits"},
	{"unknown method beside a newer one", "| `Builder.enableCompression` |", "| `Builder.enableCompression`, `Builder.disableCompression` |", "Java has no Builder.disableCompression"},
	{"older method beside a newer one", "| `CuratorFramework.compressionEnabled` |", "| `CuratorFramework.compressionEnabled`, `CuratorFramework.sync()` |", "1 methods are newer"},
	{"newer step of a builder that has it not", "| `CreateBuilder.uncompressed` |", "| `DeleteBuilder.uncompressed` |", "Java has no DeleteBuilder.uncompressed"},
	{"newer method without a row", "| `GetDataBuilder.undecompressed` | `GetDataBuilder.Undecompressed` | newer than 5.4 |\n", "", "no row has GetDataBuilder.undecompressed"},
	{"newer method of a type whose others have one row", "| `OperationTrace.getResponseChildrenCount`, ", "| ", "no row has OperationTrace.getResponseChildrenCount"},
	{"newer method without the remark", "`WithCompression` | newer than 5.4 |", "`WithCompression` |  |", "1 methods are newer"},
	{"the remark without a newer method", "| `Client.Namespace` |  |", "| `Client.Namespace` | newer than 5.4 |", "0 methods are newer"},
	{"unknown type in a section that is not installed", "| `ZPath.child` |", "| `ZPaths.child` |", "Java has no ZPaths.child"},
	{"unknown method in a section that is not installed", "| `KillSession.kill` |", "| `KillSession.kill`, `ZKPaths.splits` |", "Java has no ZKPaths.splits"},
	{"the remark in a section that is not installed", "| `KillSession.kill` | `curatortest.Server.ExpireSession`, `curatortest.Ensemble.ExpireSession` |  |", "| `KillSession.kill` | `curatortest.Server.ExpireSession` | newer than 5.4 |", "0 methods are newer"},
	{"type that is not installed, without a row", "| `KillSession.kill` |", "| `Timing.kill` |", "no row has KillSession.*"},

	// Names here.
	{"unknown name here", "| `paths.Split` |", "| `paths.Splits` |", "there is no paths.Splits"},
	{"unknown name in a remark", "`Close`'s context", "`Closes`'s context", "the remark names Closes"},

	// What users report.
	{"report without a test", "`TestThousandGoroutines` in `recipes/locks`", "by a test", "is not a report"},
	{"report of nothing", "| apache/curator#1231, CURATOR-716, open |", "| open |", "is not a report"},
	{"test that does not exist", "`TestThousandGoroutines` in", "`TestThousand` in", "there is no TestThousand in recipes/locks"},
	{"test in another directory", "`TestThousandGoroutines` in `recipes/locks`", "`TestThousandGoroutines` in `recipes/leader`", "there is no TestThousandGoroutines in recipes/leader"},
	{"report about a name that does not exist", "| `locks.Lease.Release` goes on", "| `locks.Lease.Released` goes on", "there is no locks.Lease.Released"},
	{"no reports", "\n## What Curator's users report", "\n## What users report", "does not begin with a table"},

	// Reasons.
	{"wrong number of rows", "There are ", "There are 1", "the head does not say"},
	{"wrong number of a reason", "| threads | ", "| threads | 1", "the head counts"},
	{"unknown reason", "*threads*", "*lost*", "reasons that the head does not have: map[lost:1]"},

	// Steps.
	{"start of another chain", "| `Client.Create` |", "| `Client.Delete` |", "no row [CuratorFramework.create] [framework.Client.Create]"},
	{"start without a name of Java", "|  | `Client.Batch` | Java has none |\n", "", "no row [] [framework.Client.Batch]"},
	{"part of a step's name", "| `CreateBuilder.withACL(list, true)` | `CreateBuilder.WithACLOnParents` |  |", "| `CreateBuilder.with` | `CreateBuilder.WithACLOnParents` | newer than 5.4 |", "no row [CreateBuilder.withACL(list, true)] [framework.CreateBuilder.WithACLOnParents]"},
	{"steps exchanged", "| `CreateBuilder.withTtl` | `CreateBuilder.WithTTL` |  |\n| `CreateBuilder.orSetData` | `CreateBuilder.OrSetData` |", "| `CreateBuilder.withTtl` | `CreateBuilder.OrSetData` |  |\n| `CreateBuilder.orSetData` | `CreateBuilder.WithTTL` |", "no row [CreateBuilder.withTtl] [framework.CreateBuilder.WithTTL]"},
	{"step of another builder", "| `SetDataBuilder.withVersion` | `SetDataBuilder.WithVersion` |  |", "| `SetDataBuilder.withVersion` | `DeleteBuilder.WithVersion` |  |", "no row [SetDataBuilder.withVersion] [framework.SetDataBuilder.WithVersion]"},
	{"step without its parameters", "| `CreateBuilder.withACL(list, true)` |", "| `CreateBuilder.withACL(list)` |", "no row [CreateBuilder.withACL(list, true)]"},
	{"second name of a step", "| `DeleteBuilder.idempotent` | `DeleteBuilder.Quietly` |", "| `DeleteBuilder.idempotent` | `DeleteBuilder.Guaranteed` |", "no row [DeleteBuilder.idempotent] [framework.DeleteBuilder.Quietly]"},
	{"step that Java has not", "|  | `TransactionBuilder.Idempotent` | Java has none |\n", "", "no row [] [framework.TransactionBuilder.Idempotent]"},
	{"second row of a step that Java has not", "|  | `TransactionBuilder.Idempotent` | Java has none |\n", "|  | `TransactionBuilder.Idempotent` | Java has none |\n|  | `TransactionBuilder.Idempotent` | Java has none |\n", "two rows [] [framework.TransactionBuilder.Idempotent]"},
	{"second row of a step that Java has", "| `CreateBuilder.withTtl` |", "|  | `CreateBuilder.WithTTL` | Java has none |\n| `CreateBuilder.withTtl` |", "a row [] [framework.CreateBuilder.WithTTL], and no step"},
	{"step of a transaction that Java is said not to have", "| `CreateBuilder.withTtl` |", "|  | `CreateOp.WithTTL` | Java has none |\n| `CreateBuilder.withTtl` |", "a row [] [framework.CreateOp.WithTTL], and no step"},
	{"start that Java is said not to have", "| `CuratorFramework.create` |", "|  | `Client.Create` | Java has none |\n| `CuratorFramework.create` |", "a row [] [framework.Client.Create], and no step"},
	{"argument that is a step here", "| `CreateBuilder.forPath(path, data)` | `CreateBuilder.WithData` |", "| `CreateBuilder.forPath(path, data)` | `CreateBuilder.ForPath` |", "no row [CreateBuilder.forPath(path, data)] [framework.CreateBuilder.WithData]"},
	{"step in a transaction", "| `CreateOp.WithTTL` |", "| `CreateBuilder.WithTTL` |", "no row [TransactionCreateBuilder.withTtl] [framework.CreateOp.WithTTL]"},
	{"last call", "| `GetConfigBuilder.ForEnsemble` |", "| `ReconfigBuilder.ForEnsemble` |", "no row [GetConfigBuilder.forEnsemble]"},
	{"last call in a transaction", "| `DeleteOp.ForPath` |", "| `DeleteBuilder.ForPath` |", "no row [TransactionDeleteBuilder.forPath]"},
}

// Each mistake in the page is found.
func TestParityMutations(t *testing.T) {
	page, java, newer, ours := contents(t, parityPage), javaLists(t), newerMethods(t), exported(t).names
	for _, m := range parityMutations {
		t.Run(m.name, func(t *testing.T) {
			mutated := strings.Replace(page, m.old, m.replacement, 1)
			if mutated == page {
				t.Fatalf("the page does not have %q", m.old)
			}
			wrong := checkParity(mutated, java, newer, ours)
			if !slices.ContainsFunc(wrong, func(found string) bool { return strings.Contains(found, m.wrong) }) {
				t.Errorf("not found, but: %q", wrong)
			}
		})
	}
}
