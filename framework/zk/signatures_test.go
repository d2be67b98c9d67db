package zk_test

import (
	"go/importer"
	"go/token"
	"go/types"
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

// signatures returns what a package exports, by its name, with the signature of each function and method, the type and
// value of each constant, and the fields of each type.
func signatures(t *testing.T, path string) map[string]string {
	t.Helper()
	pkg, err := importer.ForCompiler(token.NewFileSet(), "source", nil).Import(path)
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
	all := map[string]string{}
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		switch o := o.(type) {
		case *types.Const:
			all[name] = "const " + text(o.Type()) + " " + o.Val().ExactString()
		case *types.TypeName:
			all[name] = "type"
			if !slices.Contains(ours, name) {
				all[name] += " " + text(o.Type().Underlying())
			}
			for sel := range types.NewMethodSet(types.NewPointer(o.Type())).Methods() {
				if sel.Obj().Exported() {
					all[name+"."+sel.Obj().Name()] = text(sel.Type())
				}
			}
		default:
			all[name] = text(o.Type())
		}
	}
	return all
}

// Every exported name of the driver is here, with the same signature, but for the package of the types that are ours.
// So the change of one import compiles.
func TestSignatures(t *testing.T) {
	want, got := signatures(t, driverPath), signatures(t, ourPath)
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
