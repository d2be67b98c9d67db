package checks

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
)

const unfinishedBuilderDoc = `find operations without their terminal

A chain such as client.Create().WithData(data) describes an operation. Nothing is sent before its
terminal, ForPath or InBackground. A step returns a copy, so a step whose result is dropped has no
effect. An operation of a transaction is not executed before the transaction is committed.`

func unfinishedBuilder(pass *analysis.Pass) (any, error) {
	nodes := []ast.Node{(*ast.AssignStmt)(nil), (*ast.ExprStmt)(nil), (*ast.GoStmt)(nil), (*ast.DeferStmt)(nil)}
	for c := range inspectorOf(pass).Root().Preorder(nodes...) {
		call := dropped(c.Node())
		if call == nil {
			continue
		}
		if message := unfinished(pass.TypesInfo, call); message != "" {
			pass.Reportf(call.Pos(), "%s", message)
		}
	}
	return nil, nil
}

// unfinished returns what is wrong with a call whose result is dropped, "" if nothing is.
func unfinished(info *types.Info, call *ast.CallExpr) string {
	path, name := named(info.TypeOf(call))
	if !ast.IsExported(name) {
		return ""
	}
	switch in := strings.TrimPrefix(path, module+"/") + "." + name; {
	case in == "framework.Op":
		return "the operation is not committed: pass it to Transaction().ForOperations, Batch().ForOperations or Lease.Guard"
	case in == "framework.TransactionOp", isBuilder(in) && strings.HasSuffix(in, "Op"):
		return "the operation is not complete: end the chain with ForPath, and pass the result to Transaction().ForOperations or Lease.Guard"
	case !isBuilder(in):
		return ""
	case isVariableStep(info, call):
		return types.ExprString(call.Fun) + " returns a copy, which is dropped: assign it, or end the chain with its terminal"
	default:
		return "the chain has no terminal, so nothing is sent: end it with " + terminals(info.TypeOf(call))
	}
}

// isBuilder reports whether a type of the library is a builder: a value whose steps return copies.
func isBuilder(name string) bool {
	return name == "recipes/cache.ListenerBuilder" ||
		strings.HasPrefix(name, "framework.") && (strings.HasSuffix(name, "Builder") || strings.HasSuffix(name, "Op"))
}

// isVariableStep reports whether a call is a step of a builder in a variable.
func isVariableStep(info *types.Info, call *ast.CallExpr) bool {
	selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch ast.Unparen(selector.X).(type) {
	case *ast.Ident, *ast.SelectorExpr:
		return types.Identical(info.TypeOf(selector.X), info.TypeOf(call))
	}
	return false
}

// terminals returns the names of the methods of a builder that are not steps.
func terminals(builder types.Type) string {
	var names []string
	for method := range types.NewMethodSet(builder).Methods() {
		fn := method.Obj().(*types.Func)
		results := fn.Signature().Results()
		isStep := results.Len() == 1 && types.Identical(results.At(0).Type(), builder)
		if fn.Exported() && !isStep {
			names = append(names, fn.Name())
		}
	}
	return strings.Join(names, " or ")
}
