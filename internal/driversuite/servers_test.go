package driversuite_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"strconv"
	"strings"
	"testing"
)

// countServers adds the tests of a file, with the number of servers that they start.
func countServers(name string, text []byte, servers map[string]int) error {
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, decl := range file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || function.Recv != nil || !strings.HasPrefix(function.Name.Name, "Test") {
			continue
		}
		servers[function.Name.Name] = 0
		ast.Inspect(function, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if start, ok := call.Fun.(*ast.Ident); !ok || start.Name != "StartTestCluster" {
				return true
			}
			size, ok := call.Args[1].(*ast.BasicLit)
			if !ok {
				err = fmt.Errorf("%s starts a number of servers that is no literal", function.Name.Name)
				return false
			}
			servers[function.Name.Name], err = strconv.Atoi(size.Value)
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func TestCountServers(t *testing.T) {
	const source = `package zk

func TestA(t *testing.T) { ts, err := StartTestCluster(t, 3, nil, nil) }

func (x *T) TestB() {}

func TestC(t *testing.T) {}
`
	got := map[string]int{}
	if err := countServers("a_test.go", []byte(source), got); err != nil || !maps.Equal(got, map[string]int{"TestA": 3, "TestC": 0}) {
		t.Errorf("error %v, servers %v", err, got)
	}
	if err := countServers("a_test.go", []byte("package zk\n\nfunc TestA() { StartTestCluster(t, n) }\n"), got); err == nil {
		t.Error("no error for a number that is not known")
	}
}
