package interop_test

import (
	"archive/zip"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	rewriteNames = flag.Bool("rewrite", false, "write the names of Java's framework anew")
	newerJars    = flag.String("newer", "", "a directory with the jars of Curator 5.4.0 and 5.9.0, whose names are compared")
)

const namesDir = "../migration/testdata"

// recipePackages are the packages of Java's recipes that docs/parity.md has all of.
var recipePackages = []string{"atomic", "barriers", "cache", "leader", "locks", "nodes", "queue", "shared", "watch"}

// docs/parity.md has a row for each of the names in these files: they are all that the installed
// Curator has. It is 5.4 that the table is about.
func TestJavaNames(t *testing.T) {
	t.Parallel()
	t.Run("client", func(t *testing.T) {
		t.Parallel()
		javaNames(t, "client", "java-client.txt", notShaded)
	})
	t.Run("framework", func(t *testing.T) { javaNames(t, "framework", "java.txt", func(string) bool { return true }) })
	t.Run("recipes", func(t *testing.T) {
		t.Parallel()
		javaNames(t, "recipes", "java-recipes.txt", func(file string) bool { return slices.Contains(recipePackages, path.Base(path.Dir(file))) })
	})
	t.Run("discovery", func(t *testing.T) {
		t.Parallel()
		javaNames(t, "x-discovery", "java-discovery.txt", func(string) bool { return true })
	})
	if *newerJars != "" {
		t.Run("newer", newerNames)
	}
}

// newerNames compares the names that Curator 5.9.0 has and 5.4.0 has not, in all modules for users, with those of a
// file, of which docs/parity.md has all, too. No package that the tests install has the jars: see -newer.
func newerNames(t *testing.T) {
	names := func(version string) (all []string) {
		for _, module := range []string{"client", "framework", "recipes", "x-discovery", "x-async", "test"} {
			jar := filepath.Join(*newerJars, fmt.Sprintf("curator-%s-%s.jar", module, version))
			all = append(all, jarNames(t, jar, notShaded)...)
		}
		slices.Sort(all)
		return slices.Compact(all) // two classes called Builder are one here, too
	}
	old := names("5.4.0")
	wantNames(t, "newer-than-5.4.txt", slices.DeleteFunc(names("5.9.0"), func(name string) bool {
		return slices.Contains(old, name)
	}))
}

func notShaded(file string) bool {
	return !strings.Contains(file, "shaded/") && !strings.HasSuffix(file, "-info.class")
}

// gone are the names that Curator 5.9.0 has no more.
var gone = []string{"Compatibility.getHostAddress"}

// javaNames compares the names of the classes in a module's jar with those of a file. A Curator in place of Debian's
// may also have the newer names, and lack those that are gone.
func javaNames(t *testing.T, module, file string, wanted func(file string) bool) {
	t.Helper()
	jar := curatorJar(module)
	_, err := findTool("javap")
	installed(t, err)
	if _, err := os.Stat(jar); err != nil {
		installed(t, fmt.Errorf("%w: %w", errNoJava, err))
	}
	names := jarNames(t, jar, wanted)
	if curatorHome == "" {
		wantNames(t, file, names)
		return
	}
	known, newer := keptNames(t, file), keptNames(t, "java*.txt", "newer-than-5.4.txt")
	for _, name := range names {
		if !slices.Contains(newer, name) {
			t.Errorf("%s is in none of the files", name)
		}
	}
	for _, name := range known {
		if !slices.Contains(names, name) && !slices.Contains(gone, name) {
			t.Errorf("%s is gone", name)
		}
	}
}

// keptNames returns the names in some files.
func keptNames(t *testing.T, patterns ...string) (names []string) {
	t.Helper()
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(namesDir, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no file, %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, strings.Fields(string(text))...)
		}
	}
	return names
}

// jarNames returns the names of the classes in a jar.
func jarNames(t *testing.T, jar string, wanted func(file string) bool) []string {
	t.Helper()
	javap, err := findTool("javap")
	if err != nil {
		t.Fatal(err)
	}
	args := slices.Concat(launcherFlags(), []string{"-public", "-cp", classPath(jar)}, classesIn(t, jar, wanted))
	listing, err := exec.Command(javap, args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return parseJava(string(listing)).names()
}

// wantNames compares names with those of a file.
func wantNames(t *testing.T, file string, all []string) {
	t.Helper()
	namesFile := filepath.Join(namesDir, file)
	names := strings.Join(all, "\n") + "\n"
	if *rewriteNames {
		if err := os.WriteFile(namesFile, []byte(names), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(namesFile)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(names, string(kept)); diff != "" {
		t.Errorf("%s has other names than Java; see -rewrite:\n%s", namesFile, diff)
	}
}

// classesIn returns the classes in the jar that javap is to list. Those of package imps that
// implement an interface under their own name are not meant for users.
func classesIn(t *testing.T, file string, wanted func(file string) bool) (classes []string) {
	t.Helper()
	jar, err := zip.OpenReader(file)
	if err != nil {
		t.Fatal(err)
	}
	defer jar.Close()
	anonymous := regexp.MustCompile(`\$\d`)
	for _, f := range jar.File {
		class, ok := strings.CutSuffix(f.Name, ".class")
		if ok && wanted(f.Name) && !anonymous.MatchString(class) && !strings.HasSuffix(class, "Impl") {
			classes = append(classes, strings.ReplaceAll(class, "/", "."))
		}
	}
	return classes
}

// javaType is a public type as javap lists it.
type javaType struct {
	name    string // without the package
	api     bool   // an interface that may be a step of a chain
	extends string
	members []javaMember
}

type javaMember struct{ name, returns string }

type javaTypes map[string]*javaType

var (
	javaHead   = regexp.MustCompile(`^public .*?\b(class|interface) org\.apache\.curator\.(?:framework\.|x\.discovery\.)?([\w.$]+)(.*)\{$`)
	javaMethod = regexp.MustCompile(`^  public ([^(]*?)([\w.$]+)\(`)
	javaField  = regexp.MustCompile(`^  public static final \S+ (\w+);$`)
	javaWord   = regexp.MustCompile(`[\w.$]+`)
	// notOurs have every class, or every enum.
	notOurs = []string{"equals", "hashCode", "toString", "values", "valueOf"}
)

func parseJava(listing string) javaTypes {
	types := javaTypes{}
	var current *javaType
	for line := range strings.Lines(listing) {
		line = strings.TrimRight(line, "\n")
		if m := javaHead.FindStringSubmatch(line); m != nil {
			pkg := path.Dir(strings.ReplaceAll(m[2], ".", "/"))
			current = &javaType{
				name:    simple(m[2]),
				api:     m[1] == "interface" && (pkg == "api" || pkg == "api/transaction"),
				extends: m[3],
			}
			if known := types[current.name]; known != nil && !known.api && !current.api {
				current = known // two classes called Builder are one here
			}
			types[current.name] = current
		} else if line == "}" {
			current = nil
		}
		if current == nil {
			continue
		}
		if m := javaMethod.FindStringSubmatch(line); m != nil {
			name := simple(m[2])
			if name == current.name {
				name = "new"
			}
			current.members = append(current.members, javaMember{name, m[1]})
		} else if m := javaField.FindStringSubmatch(line); m != nil {
			current.members = append(current.members, javaMember{name: m[1]})
		}
	}
	return types
}

// simple takes the package off a name; Outer$Inner becomes Inner.
func simple(name string) string {
	return name[strings.LastIndexAny(name, ".$")+1:]
}

// starts tells whether a chain starts with the type.
func (t *javaType) starts() bool {
	return t.api && (strings.HasSuffix(t.name, "Builder") || t.name == "CuratorMultiTransaction" || t.name == "CuratorTransaction")
}

// names returns Type.member for all members. A chain is taken for one type, the one that it
// starts with: its steps are spread over a hundred interfaces.
func (types javaTypes) names() (names []string) {
	step := map[*javaType]bool{}
	add := func(t *javaType, owner string) {
		for _, m := range t.members {
			if !slices.Contains(notOurs, m.name) {
				names = append(names, owner+"."+m.name)
			}
		}
	}
	for _, t := range types {
		if t.starts() {
			for s := range types.chain(t) {
				step[s] = true
				add(s, t.name)
			}
		}
	}
	for _, t := range types {
		if !step[t] {
			add(t, t.name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// chain returns the interfaces that a chain goes through.
func (types javaTypes) chain(start *javaType) map[*javaType]bool {
	seen := map[*javaType]bool{start: true}
	for todo := []*javaType{start}; len(todo) > 0; todo = todo[1:] {
		words := javaWord.FindAllString(todo[0].extends, -1)
		for _, m := range todo[0].members {
			words = append(words, javaWord.FindAllString(m.returns, -1)...)
		}
		for _, word := range words {
			if next := types[simple(word)]; next != nil && next.api && !next.starts() && !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return seen
}
