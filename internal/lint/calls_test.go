package lint

import (
	"go/ast"
	"slices"
	"strings"
)

// calls calls fn for every call in root; pkg is empty for a plain name, and else the name
// before the dot.
func calls(root ast.Node, fn func(call *ast.CallExpr, pkg, name string)) {
	ast.Inspect(root, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		fun := call.Fun
		switch generic := fun.(type) { // name[T](...)
		case *ast.IndexExpr:
			fun = generic.X
		case *ast.IndexListExpr:
			fun = generic.X
		}
		switch f := fun.(type) {
		case *ast.Ident:
			fn(call, "", f.Name)
		case *ast.SelectorExpr:
			if x, ok := f.X.(*ast.Ident); ok {
				fn(call, x.Name, f.Sel.Name)
			}
		}
		return true
	})
}

var noPanic = rule{
	name: "no panic and no exit in libraries",
	check: eachFile(func(s *source) (found []finding) {
		if !s.isLibrary() {
			return nil
		}
		calls(s.file, func(call *ast.CallExpr, pkg, name string) {
			exits := pkg == "os" && name == "Exit" || pkg == "log" && strings.HasPrefix(name, "Fatal")
			if pkg == "" && name == "panic" || exits {
				found = append(found, s.at(call, "return an error: a program must survive what its users and its servers do"))
			}
		})
		return found
	}),
	good: []files{
		{"state/a.go": "package state; func f() { x.panic(); y := panicky() }"},
		{"state/a_test.go": `package state; func f() { panic("x") }`},
		{"tools/curator/a.go": `package main; func f() { panic("x") }`},
	},
	bad: []files{
		{"state/a.go": `package state; func f() { panic("x") }`},
		{"state/a.go": `package state; func f() { os.Exit(1) }`},
		{"state/a.go": `package state; func f() { log.Fatalf("x") }`},
		{"internal/zkserver/a.go": `package zkserver; var f = func() { defer func() { panic(1) }() }`},
	},
}

var noBackground = rule{
	name: "no context out of nothing in libraries",
	check: eachFile(func(s *source) (found []finding) {
		if !s.isLibrary() {
			return nil
		}
		calls(s.file, func(call *ast.CallExpr, pkg, name string) {
			if pkg == "context" && (name == "Background" || name == "TODO") {
				found = append(found, s.at(call, "take a context from the caller; for clean-up, context.WithoutCancel of it with a timeout"))
			}
		})
		return found
	}),
	good: []files{
		{"framework/a.go": "package framework; func f() { context.WithoutCancel(ctx) }"},
		{"framework/a_test.go": "package framework; func f() { context.Background() }"},
		{"tools/curator/a.go": "package main; func main() { run(context.Background()) }"},
	},
	bad: []files{
		{"framework/a.go": "package framework; func f() { g(context.Background()) }"},
		{"recipes/locks/a.go": "package locks; var ctx = context.TODO()"},
	},
}

var noSleep = rule{
	name: "no sleep",
	check: func(tree []*source) (found []finding) {
		bubbles := bubbleHelpers(tree)
		for _, s := range tree {
			if !s.isGo() {
				continue
			}
			for _, decl := range s.file.Decls {
				if s.isTestOnly() && inBubble(decl, bubbles[s.dir()]) {
					continue
				}
				calls(decl, func(call *ast.CallExpr, pkg, name string) {
					if pkg == "time" && name == "Sleep" {
						found = append(found, s.at(call, sleepText(s)))
					}
				})
			}
		}
		return found
	},
	good: []files{
		{"state/a_test.go": "package state; func TestA(t *testing.T) { synctest.Test(t, func(t *testing.T) { time.Sleep(x) }) }"},
		{"state/a_test.go": "package state; func settle() { time.Sleep(x); synctest.Wait() }"},
		{
			"state/a_test.go": "package state; func TestA(t *testing.T) { bubble(t, func(t *testing.T) { time.Sleep(x) }) }",
			"state/b_test.go": "package state; func bubble(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }",
		},
		{"state/a.go": "package state; func f() { time.NewTimer(x); p.Sleep(x) }"},
	},
	bad: []files{
		{"state/a_test.go": "package state; func TestA(t *testing.T) { time.Sleep(x) }"},
		{
			"state/a_test.go":     "package state; func TestA(t *testing.T) { bubble(t, func(t *testing.T) { time.Sleep(x) }) }",
			"framework/b_test.go": "package framework; func bubble(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }",
		},
		{"state/a.go": "package state; func f() { time.Sleep(x); synctest.Wait() }"},
	},
}

func sleepText(s *source) string {
	if s.isTestOnly() {
		return "run the test in a bubble of testing/synctest, or wait for what is to happen: a sleep is slow, or too short on a slow day"
	}
	return "wait on a timer and the context together"
}

// bubbleHelpers returns, for each directory, the test functions that run others under
// testing/synctest.
func bubbleHelpers(tree []*source) map[string][]string {
	helpers := map[string][]string{}
	for _, s := range tree {
		if !s.isGo() || !s.isTestOnly() {
			continue
		}
		for _, decl := range s.file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && inBubble(f, nil) {
				helpers[s.dir()] = append(helpers[s.dir()], f.Name.Name)
			}
		}
	}
	return helpers
}

// inBubble tells whether decl speaks of testing/synctest itself or through a helper.
func inBubble(decl ast.Decl, helpers []string) bool {
	in := false
	calls(decl, func(_ *ast.CallExpr, pkg, name string) {
		in = in || pkg == "synctest" || slices.Contains(helpers, name)
	})
	return in
}

var noSkip = rule{
	name: "no skipped tests",
	check: eachFile(func(s *source) (found []finding) {
		if !s.isTestOnly() {
			return nil
		}
		calls(s.file, func(call *ast.CallExpr, pkg, name string) {
			isTest := slices.Contains([]string{"t", "b", "f", "tb"}, pkg)
			if isTest && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, name) {
				found = append(found, s.at(call, "a skipped test is green and proves nothing: make it run; curatortest.Real alone decides whether there is a server"))
			}
		})
		return found
	}),
	good: []files{
		{"state/a_test.go": "package state; func TestA(t *testing.T) { decoder.Skip(); t.Log() }"},
		{"tools/curatortest/real.go": "package curatortest; func Real(t TB) { t.Skipf() }"},
	},
	bad: []files{
		{"state/a_test.go": "package state; func TestA(t *testing.T) { t.Skip() }"},
		{"internal/suite/a.go": "package suite; func A(tb testing.TB) { if x { tb.Skipf(y) } }"},
	},
}
