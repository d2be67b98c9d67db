package framework_test

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework"
	"github.com/go-curator/curator/framework/paths"
	"github.com/go-curator/curator/retry"
)

// The words of OpError.Op are those that its documentation lists.
func TestOpWords(t *testing.T) {
	c, err := framework.NewClient("127.0.0.1:1", retry.None()) // everything fails, without a server
	if err != nil {
		t.Fatal(err)
	}
	ctx := t.Context()
	errs := operations(ctx, c)
	delete(errs, "background") // which is a delete
	_, errs["getACL"] = c.GetACL().ForPath(ctx, "/a")
	_, errs["setACL"] = c.SetACL().ForPath(ctx, "/a", framework.OpenACLUnsafe())
	errs["sync"] = c.Sync().ForPath(ctx, "/a")
	_, errs["getConfig"] = c.GetConfig().ForEnsemble(ctx)
	_, errs["reconfig"] = c.Reconfig().Joining("server.1=a:1:2;3").ForEnsemble(ctx)
	errs["addAuth"] = c.AddAuth(ctx, "digest", []byte("a:b"))
	w := framework.NewWatcher(func(context.Context, framework.WatchedEvent) {})
	errs["addWatch"] = c.Watches().Add().ForPath(ctx, "/a", w)
	errs["removeWatches"] = c.Watches().Remove().ForPath(ctx, "/a", w)
	_, errs["batch"] = c.Batch().ForOperations(ctx, c.TransactionOp().Delete().ForPath("/a"))
	for _, read := range c.ReadMany(ctx, nil) {
		errs["readMany"] = read.Err
	}
	errs["mkdirs"] = paths.Mkdirs(ctx, c, "relative")
	_, errs["check"] = c.Transaction().ForOperations(ctx, c.TransactionOp().Check().ForPath("relative"))

	text := opDoc(t)
	words := strings.FieldsFunc(text, func(r rune) bool { return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') })
	for word, err := range errs {
		var op *framework.OpError
		if !errors.As(err, &op) || op.Op != word {
			t.Errorf("%s: %v", word, err)
		}
		if !slices.Contains(words, word) {
			t.Errorf("%s is not documented: %s", word, text)
		}
	}
}

// opDoc returns the documentation of the field OpError.Op.
func opDoc(t *testing.T) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "errors.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	doc := ""
	ast.Inspect(file, func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok && doc == "" && f.Doc != nil && len(f.Names) == 1 && f.Names[0].Name == "Op" {
			doc = f.Doc.Text()
		}
		return true
	})
	return doc
}
