package checks

import (
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
)

const ignoredContextDoc = `find functions of locks.Do that ignore their context

The context that locks.Do, locks.TryDo and LeaderSelector.Run pass to their function ends when the
lock is lost. Work that uses neither this context nor the lease continues while somebody else holds
the lock. A function that does nothing that could wait or fail is not reported.`

func ignoredContext(pass *analysis.Pass) (any, error) {
	for _, w := range worksOf(pass) {
		if inTest(pass, w.fn) || uses(pass.TypesInfo, w.body, w.ctx) || looksAtLease(pass.TypesInfo, w) {
			continue
		}
		if instead := interruptible(pass.TypesInfo, w); instead != "" {
			pass.Reportf(w.typ.Params.Pos(), "the function of %s ignores its context, and continues after the lock is lost: %s", w.caller, instead)
		}
	}
	return nil, nil
}

// uses reports whether a variable is used in a body.
func uses(info *types.Info, body *ast.BlockStmt, v *types.Var) (used bool) {
	if v == nil {
		return false
	}
	ast.Inspect(body, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		used = used || ok && info.Uses[id] == v
		return !used
	})
	return used
}

// looksAtLease reports whether a work uses more of its lease than the token and the path.
func looksAtLease(info *types.Info, w work) bool {
	if w.lease == nil {
		return false
	}
	all, plain := 0, 0
	ast.Inspect(w.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			if info.Uses[n] == w.lease {
				all++
			}
		case *ast.CallExpr:
			name := api(called(info, n))
			if name != "recipes/locks.Lease.Token" && name != "recipes/locks.Lease.Path" {
				break
			}
			if selector, ok := n.Fun.(*ast.SelectorExpr); ok && variable(info, selector.X) == w.lease {
				plain++
			}
		}
		return true
	})
	return all > plain
}

// interruptible returns how the first statement of a work that may take long or fail should use the
// context, "" if there is no such statement.
func interruptible(info *types.Info, w work) (instead string) {
	name := "ctx"
	if w.ctx != nil {
		name = w.ctx.Name()
	}
	ast.Inspect(w.body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if instead == "" {
				instead = withContext(info, w, n, name)
			}
		case *ast.ForStmt:
			if n.Cond == nil && instead == "" {
				instead = fmt.Sprintf("check %s.Err() in the loop", name)
			}
		}
		return instead == ""
	})
	return instead
}

// withContext returns how a call should use the context, "" if it need not.
func withContext(info *types.Info, w work, call *ast.CallExpr, name string) string {
	fn := called(info, call)
	text := types.ExprString(call.Fun)
	for _, arg := range call.Args {
		if made, ok := ast.Unparen(arg).(*ast.CallExpr); ok {
			switch std(called(info, made)) {
			case "context.Background", "context.TODO":
				return fmt.Sprintf("pass %s to %s", name, text)
			}
		}
	}
	if fn == nil || takesContext(fn.Signature()) {
		return "" // outercontext reports a context from outside
	}
	if std(fn) == "time.Sleep" {
		return fmt.Sprintf("wait for a timer and %s.Done() instead of time.Sleep", name)
	}
	if other := sibling(fn); other != "" {
		return fmt.Sprintf("call %s instead of %s", other, fn.Name())
	}
	if mayTakeLong(fn) && !uses(info, w.body, w.lease) {
		return fmt.Sprintf("give %s a parameter for a context, and pass one", text)
	}
	return ""
}

// takesContext reports whether a function has a context as its first parameter.
func takesContext(signature *types.Signature) bool {
	return signature.Params().Len() > 0 && isContext(signature.Params().At(0).Type())
}

// otherwise has functions of the standard library whose counterparts with a context have names that
// sibling does not find.
var otherwise = map[string]string{
	"net.Dial":                 "net.Dialer.DialContext",
	"net.DialTimeout":          "net.Dialer.DialContext",
	"net/http.Get":             "http.NewRequestWithContext and Client.Do",
	"net/http.Head":            "http.NewRequestWithContext and Client.Do",
	"net/http.Post":            "http.NewRequestWithContext and Client.Do",
	"net/http.PostForm":        "http.NewRequestWithContext and Client.Do",
	"net/http.Client.Get":      "http.NewRequestWithContext and Client.Do",
	"net/http.Client.Head":     "http.NewRequestWithContext and Client.Do",
	"net/http.Client.Post":     "http.NewRequestWithContext and Client.Do",
	"net/http.Client.PostForm": "http.NewRequestWithContext and Client.Do",
}

// sibling returns the counterpart of a function or method that takes a context, such as ExecContext
// for Exec and CommandContext for Command, "" if there is none.
func sibling(fn *types.Func) string {
	if other := otherwise[std(fn)]; other != "" {
		return other
	}
	if fn.Pkg() == nil || fn.Pkg().Path() == "log/slog" || fn.Pkg().Path() == "os/signal" {
		return "" // their counterparts with a context do something else
	}
	for _, name := range []string{fn.Name() + "Context", fn.Name() + "WithContext"} {
		var o types.Object
		if receiver := fn.Signature().Recv(); receiver != nil {
			o, _, _ = types.LookupFieldOrMethod(receiver.Type(), true, fn.Pkg(), name)
		} else {
			o = fn.Pkg().Scope().Lookup(name)
		}
		if other, ok := o.(*types.Func); ok && takesContext(other.Signature()) {
			return name
		}
	}
	return ""
}

// mayTakeLong reports whether a function without a context parameter may take long: it is not of the
// standard library, and returns an error, which usually means that it uses the network or a disk.
func mayTakeLong(fn *types.Func) bool {
	if isStandard(fn) || api(fn) != "" {
		return false
	}
	results := fn.Signature().Results()
	return results.Len() > 0 && isError(results.At(results.Len()-1).Type())
}
