package zk_test

import (
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const (
	driverPath = "github.com/go-zookeeper/zk"
	ourPath    = "github.com/go-curator/curator/framework/zk"
)

// ours are the types that are not aliases of the driver's, and added is what the driver does not have.
var (
	ours  = []string{"Conn", "DNSHostProvider", "DNSHostProviderOption", "Lock"}
	added = []string{"Conn.Client", "NewConn"}
)

// compiled returns the packages with their dependencies, as the compiler has them.
func compiled(t *testing.T, paths ...string) types.Importer {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, paths...)...)
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		files[path] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
}

// signatures returns what a package exports, by its name, with the signature of each function and method, the type and
// value of each constant, and the fields of each type.
func signatures(t *testing.T, all types.Importer, path string) map[string]string {
	t.Helper()
	pkg, err := all.Import(path)
	if err != nil {
		t.Fatal(err)
	}
	text := func(typ types.Type) string {
		s := types.TypeString(typ, func(p *types.Package) string {
			if p.Path() == driverPath || p.Path() == ourPath {
				return "zk"
			}
			return p.Path()
		})
		return strings.ReplaceAll(s, "any", "interface{}")
	}
	exported := map[string]string{}
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		switch o := o.(type) {
		case *types.Const:
			exported[name] = "const " + text(o.Type()) + " " + o.Val().ExactString()
		case *types.TypeName:
			exported[name] = "type"
			if !slices.Contains(ours, name) {
				exported[name] += " " + text(o.Type().Underlying())
			}
			for sel := range types.NewMethodSet(types.NewPointer(o.Type())).Methods() {
				if sel.Obj().Exported() {
					exported[name+"."+sel.Obj().Name()] = text(sel.Type())
				}
			}
		default:
			exported[name] = text(o.Type())
		}
	}
	return exported
}

// Every exported name of the driver is here, with the same signature, but for the package of the types that are ours.
// So the change of one import compiles.
func TestSignatures(t *testing.T) {
	all := compiled(t, driverPath, ourPath)
	want, got := signatures(t, all, driverPath), signatures(t, all, ourPath)
	for name, signature := range want {
		if got[name] != signature {
			t.Errorf("%s\nthe driver's: %s\nours:         %s", name, signature, got[name])
		}
	}
	for name := range got {
		if want[name] == "" && !slices.Contains(added, name) {
			t.Errorf("%s: the driver does not have it", name)
		}
	}
	if len(want) < 130 {
		t.Errorf("the driver exports %d names only", len(want))
	}
}
