package checks

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
)

// Indexes of functions without a path argument: the receiver is one node, or has many nodes.
const (
	byReceiver = -1
	noPath     = -2
)

// cachedValue has the functions that return cached values, with the index of the argument that is the
// node's path: byReceiver if the receiver is one node, noPath if it has many.
var cachedValue = map[string]int{
	"recipes/cache.CuratorCache.Get":                     0,
	"recipes/cache.CuratorCache.All":                     noPath,
	"recipes/cache.CuratorCache.Children":                noPath,
	"recipes/cache.CuratorCache.Snapshot":                noPath,
	"recipes/cache.Snapshot.Get":                         0,
	"recipes/cache.Snapshot.All":                         noPath,
	"recipes/cache.Snapshot.Children":                    noPath,
	"recipes/cache.Typed.Get":                            0,
	"recipes/cache.Typed.All":                            noPath,
	"recipes/cache.Typed.Children":                       noPath,
	"recipes/modeled.CachedModeledFramework.Get":         0,
	"recipes/modeled.CachedModeledFramework.ReadThrough": 1,
	"recipes/modeled.CachedModeledFramework.All":         noPath,
	"recipes/modeled.CachedModeledFramework.Children":    noPath,
	"recipes/nodes.GroupMember.Members":                  noPath,
	"recipes/shared.Value.Get":                           byReceiver,
	"recipes/shared.Value.VersionedValue":                byReceiver,
	"recipes/shared.Count.Count":                         byReceiver,
	"recipes/shared.Count.VersionedValue":                byReceiver,
}

// read is a node that a function has read from a cache. It is known by the text of its path or of its
// variable.
type read struct {
	fn   ast.Node
	text string
}

// cached has the variables of a package that have cached values.
type cached struct {
	pass  *analysis.Pass
	set   values
	vars  map[*types.Var]bool
	reads map[read]bool
}

// findCached finds the variables whose values come from caches, or from other such variables.
func findCached(pass *analysis.Pass) *cached {
	k := &cached{pass: pass, set: assignments(pass), vars: map[*types.Var]bool{}, reads: map[read]bool{}}
	for grown := true; grown; {
		grown = false
		for v, expressions := range k.set {
			for _, e := range expressions {
				if !k.vars[v] && !isError(v.Type()) && k.isCached(e) {
					k.vars[v], grown = true, true
				}
			}
		}
	}
	for c := range inspectorOf(pass).Root().Preorder((*ast.CallExpr)(nil)) {
		call := c.Node().(*ast.CallExpr)
		switch path, ok := cachedValue[api(called(pass.TypesInfo, call))]; {
		case !ok || path >= len(call.Args):
		case path == byReceiver:
			if selector, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
				k.reads[read{outermost(c), k.text(selector.X)}] = true
			}
		case path >= 0:
			k.reads[read{outermost(c), k.text(call.Args[path])}] = true
		}
	}
	return k
}

// isCached reports whether an expression contains a cached value. The result of a function with a
// cached argument is a cached value only if the function is of the standard library, or a method of
// the cached value.
func (k *cached) isCached(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.Ident:
			v, _ := k.pass.TypesInfo.ObjectOf(n).(*types.Var)
			found = found || v != nil && k.vars[v]
		case *ast.CallExpr:
			fn := called(k.pass.TypesInfo, n)
			if _, ok := cachedValue[api(fn)]; ok {
				found = true
			}
			if fn != nil && !isStandard(fn) && api(fn) == "" {
				selector, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
				found = found || ok && fn.Signature().Recv() != nil && k.isCached(selector.X)
				return false
			}
		}
		return !found
	})
	return found
}

// text returns the value of a constant expression, or the source of another expression.
func (k *cached) text(e ast.Expr) string {
	if value := k.pass.TypesInfo.Types[e].Value; value != nil {
		return value.ExactString()
	}
	return types.ExprString(e)
}

// hasVersion reports whether the chain that ends with e, or a value of the variable at its beginning,
// has WithVersion. For a builder whose origin is not known it returns true.
func (k *cached) hasVersion(e ast.Expr, seen map[*types.Var]bool) bool {
	for {
		switch x := ast.Unparen(e).(type) {
		case *ast.CallExpr:
			if fn := called(k.pass.TypesInfo, x); fn != nil && fn.Name() == "WithVersion" {
				return true
			}
			e = x.Fun
		case *ast.SelectorExpr:
			if isFrameworkBuilder(k.pass.TypesInfo.TypeOf(x)) {
				return true // a field: its value is not known
			}
			e = x.X
		case *ast.Ident:
			v := variable(k.pass.TypesInfo, x)
			if v == nil || seen[v] {
				return false
			}
			if len(k.set[v]) == 0 {
				return isFrameworkBuilder(v.Type()) // a parameter: its value is not known
			}
			return k.anyHasVersion(v, seen)
		default:
			return false
		}
	}
}

func (k *cached) anyHasVersion(v *types.Var, seen map[*types.Var]bool) bool {
	now := map[*types.Var]bool{v: true}
	for s := range seen {
		now[s] = true
	}
	for _, value := range k.set[v] {
		if k.hasVersion(value, now) {
			return true
		}
	}
	return false
}

// isFrameworkBuilder reports whether a type is a builder of package framework.
func isFrameworkBuilder(t types.Type) bool {
	path, name := named(t)
	return path == module+"/framework" && isBuilder("framework."+name)
}

// outermost returns the outermost declaration around a node.
func outermost(c inspector.Cursor) ast.Node {
	for fn := range c.Enclosing((*ast.FuncDecl)(nil)) {
		return fn.Node()
	}
	return nil
}
