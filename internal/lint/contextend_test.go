package lint

import (
	"go/ast"
	"go/token"
	"strings"
)

// A context may end while the call returns that has taken an item, or got a lock. Who asks the
// context first throws that away.
var successFirst = rule{
	name: "a success is judged before the end of a context",
	check: eachFile(func(s *source) (found []finding) {
		if !s.isLibrary() {
			return nil
		}
		ast.Inspect(s.file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BlockStmt:
				found = append(found, s.endsJudgedFirst(n.List)...)
			case *ast.CaseClause:
				found = append(found, s.endsJudgedFirst(n.Body)...)
			case *ast.CommClause:
				found = append(found, s.endsJudgedFirst(n.Body)...)
			}
			return true
		})
		return found
	}),
	good: []files{
		{"state/a.go": `package state; func f() { err := g(); switch { case err == nil: case ctx.Err() != nil: } }`},
		{"state/a.go": `package state; func f() { _, err := g(); if err != nil && ctx.Err() != nil { } }`},
		{"state/a.go": `package state; func f() { if err := g(); err == nil || ctx.Err() != nil { } }`},
		{"state/a.go": `package state; func f() { err := g(); switch { case ctx.Err() != nil && is(err): } }`},
		{"state/a.go": `package state; func f(err error) { if ctx.Err() != nil { } }`},
		{"state/a.go": `package state; func f() { err := g(); if lease.Err() != nil { } }`},
		{"state/a_test.go": `package state; func f() { err := g(); if ctx.Err() != nil { } }`},
	},
	bad: []files{
		{"state/a.go": `package state; func f() { err := g(); if ctx.Err() != nil { } }`},
		{"state/a.go": `package state; func f() { for { v, err := g(); switch { case ctx.Err() != nil: case err == nil: } } }`},
		{"state/a.go": `package state; func f() { switch v, err := g(); { case a.ctx.Err() != nil && !is(err): } }`},
		{"state/a.go": `package state; func f() { if err = g(); is(err) || life.Err() != nil { } }`},
	},
}

// endsJudgedFirst finds the statements behind a call that ask a context before its error is known not
// to be nil.
func (s *source) endsJudgedFirst(list []ast.Stmt) (found []finding) {
	var called string // the error of the call in the statement before
	for _, stmt := range list {
		var conditions []ast.Expr
		result := called
		switch stmt := stmt.(type) {
		case *ast.IfStmt:
			result = or(errorOf(stmt.Init), called)
			conditions = []ast.Expr{stmt.Cond}
		case *ast.SwitchStmt:
			result = or(errorOf(stmt.Init), called)
			for _, c := range stmt.Body.List {
				if c, ok := c.(*ast.CaseClause); ok && stmt.Tag == nil {
					conditions = append(conditions, c.List...)
				}
			}
		}
		if result != "" {
			if asked := firstAsked(conditions, result); asked != nil {
				found = append(found, s.at(asked, "look at "+result+" first: what succeeded as the context ended would be lost"))
			}
		}
		called = errorOf(stmt)
	}
	return found
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// errorOf returns the name of the error that a statement gets from a call; "" if it gets none.
func errorOf(stmt ast.Stmt) string {
	assign, ok := stmt.(*ast.AssignStmt)
	if !ok || len(assign.Rhs) != 1 {
		return ""
	}
	if _, ok := assign.Rhs[0].(*ast.CallExpr); !ok {
		return ""
	}
	if last, ok := assign.Lhs[len(assign.Lhs)-1].(*ast.Ident); ok && strings.HasSuffix(strings.ToLower(last.Name), "err") {
		return last.Name
	}
	return ""
}

// firstAsked returns the first of alternatives that asks a context although the error may be nil; nil if
// none does, or the error is compared with nil before.
func firstAsked(alternatives []ast.Expr, result string) ast.Expr {
	for _, e := range alternatives {
		for _, way := range parts(e, token.LOR) {
			asks, failed := false, false
			for _, needed := range parts(way, token.LAND) {
				asks = asks || asksContext(needed)
				failed = failed || saysFailed(needed, result)
			}
			if asks && !failed {
				return way
			}
			if comparesWithNil(way, result, token.EQL) {
				return nil
			}
		}
	}
	return nil
}

// parts returns what an operator joins.
func parts(e ast.Expr, op token.Token) []ast.Expr {
	if paren, ok := e.(*ast.ParenExpr); ok {
		return parts(paren.X, op)
	}
	if binary, ok := e.(*ast.BinaryExpr); ok && binary.Op == op {
		return append(parts(binary.X, op), parts(binary.Y, op)...)
	}
	return []ast.Expr{e}
}

// asksContext tells whether an expression is ctx.Err() != nil.
func asksContext(e ast.Expr) bool {
	binary, ok := e.(*ast.BinaryExpr)
	if !ok || binary.Op != token.NEQ {
		return false
	}
	call, ok := binary.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || fun.Sel.Name != "Err" {
		return false
	}
	var name string
	switch x := fun.X.(type) {
	case *ast.Ident:
		name = x.Name
	case *ast.SelectorExpr:
		name = x.Sel.Name
	}
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "ctx") || name == "life"
}

// saysFailed tells whether an expression can only be true if the error is not nil: err != nil, or a
// question like errors.Is.
func saysFailed(e ast.Expr, result string) bool {
	if call, ok := e.(*ast.CallExpr); ok {
		for _, arg := range call.Args {
			if name, ok := arg.(*ast.Ident); ok && name.Name == result {
				return true
			}
		}
	}
	return comparesWithNil(e, result, token.NEQ)
}

func comparesWithNil(e ast.Expr, result string, op token.Token) bool {
	binary, ok := e.(*ast.BinaryExpr)
	if !ok || binary.Op != op {
		return false
	}
	x, isName := binary.X.(*ast.Ident)
	y, isNil := binary.Y.(*ast.Ident)
	return isName && isNil && x.Name == result && y.Name == "nil"
}
