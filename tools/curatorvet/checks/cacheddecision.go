package checks

import (
	"go/ast"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

const cachedDecisionDoc = `find writes without a version that are decided on a cached value

The result of a cache, a shared.Value or a GroupMember may be older than the data on the server. A
write to the same node that relies on it can overwrite data that the program has not seen. That is
so under a lock, too: the cache may not yet have the writes of the previous holder. The server must
compare: WithVersion refuses the write if the node has changed, and Lease.Guard if the lock is lost.`

// write is a function that replaces or deletes a node, whatever its data is. A create is not one,
// because the server refuses it if the node exists.
type write struct {
	path    int // the index of the argument that is the node's path; byReceiver if there is none
	instead string
}

var writes = map[string]write{
	"framework.SetDataBuilder.ForPath":        {1, "give it WithVersion"},
	"framework.SetDataBuilder.InBackground":   {1, "give it WithVersion"},
	"framework.SetDataOp.ForPath":             {0, "give it WithVersion, or a Check with a version in the same transaction"},
	"framework.DeleteBuilder.ForPath":         {1, "give it WithVersion"},
	"framework.DeleteBuilder.InBackground":    {1, "give it WithVersion"},
	"framework.DeleteOp.ForPath":              {0, "give it WithVersion, or a Check with a version in the same transaction"},
	"recipes/modeled.ModeledFramework.Set":    {byReceiver, "use WithVersion and Update, or Modify"},
	"recipes/modeled.ModeledFramework.Update": {byReceiver, "give it WithVersion, or use Modify"},
	"recipes/modeled.ModeledFramework.Delete": {byReceiver, "give it WithVersion"},
	"recipes/shared.Value.Set":                {byReceiver, "use TrySet or Update"},
	"recipes/shared.Count.Set":                {byReceiver, "use TrySet or Update"},
}

// checkOps has the operations that make a transaction fail if a node is not as expected.
var checkOps = map[string]bool{
	"framework.TransactionOp.Check":            true,
	"recipes/modeled.ModeledFramework.CheckOp": true,
}

func cachedDecision(pass *analysis.Pass) (any, error) {
	known := findCached(pass)
	for c := range inspectorOf(pass).Root().Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		w, ok := writes[api(called(pass.TypesInfo, call))]
		if !ok || inTest(pass, call) || !known.wasRead(c, w) || known.hasVersion(call, nil) || known.checked(c) {
			continue
		}
		if known.inContent(call, w) || known.decided(c) {
			pass.Reportf(call.Pos(), "the write relies on a cached value, which may be out of date when the write arrives: "+
				"%s; Lease.Guard refuses it if a lock is lost, too", w.instead)
		}
	}
	return nil, nil
}

// wasRead reports whether the function around a write has read the same node from a cache: the write
// has the path of the read, or a path from the cache.
func (k *cached) wasRead(c inspector.Cursor, w write) bool {
	call := c.Node().(*ast.CallExpr)
	node := call.Fun
	if w.path != byReceiver {
		if w.path >= len(call.Args) {
			return false
		}
		node = call.Args[w.path]
	}
	if k.isCached(node) {
		return true
	}
	fn := outermost(c)
	if w.path != byReceiver {
		return k.reads[read{fn, k.text(node)}]
	}
	found := false
	ast.Inspect(node, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		found = found || ok && k.reads[read{fn, k.text(e)}]
		return !found
	})
	return found
}

// inContent reports whether the data of a write was made from a cached value.
func (k *cached) inContent(call *ast.CallExpr, w write) bool {
	for i, arg := range call.Args {
		if i != w.path && k.isCached(arg) {
			return true
		}
	}
	return false
}

// decided reports whether a branch on a cached value decides that a statement is executed: a branch
// around the statement, or one before it that jumps out of the block.
func (k *cached) decided(c inspector.Cursor) bool {
	for outer := range c.Enclosing() {
		switch outer.Node().(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			return false
		}
		if k.decides(outer.Node()) {
			return true
		}
		for before, ok := outer.PrevSibling(); ok; before, ok = before.PrevSibling() {
			branch, isIf := before.Node().(*ast.IfStmt)
			if isIf && leavesBlock(branch.Body.List) && k.decides(branch) {
				return true
			}
		}
	}
	return false
}

// decides reports whether a statement branches on a cached value.
func (k *cached) decides(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IfStmt:
		return k.isCached(n.Cond)
	case *ast.ForStmt:
		return n.Cond != nil && k.isCached(n.Cond)
	case *ast.SwitchStmt:
		return n.Tag != nil && k.isCached(n.Tag)
	case *ast.CaseClause:
		return slices.ContainsFunc(n.List, k.isCached)
	}
	return false
}

// leavesBlock reports whether statements end with a jump out of the block around them.
func leavesBlock(list []ast.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	_, jumps := list[len(list)-1].(*ast.BranchStmt)
	return jumps || leavesFunction(list)
}

// checked reports whether the function around a write has a Check for a transaction.
func (k *cached) checked(c inspector.Cursor) bool {
	for fn := range c.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		for inner := range fn.Preorder((*ast.CallExpr)(nil)) {
			if checkOps[api(called(k.pass.TypesInfo, inner.Node().(*ast.CallExpr)))] {
				return true
			}
		}
	}
	return false
}
