package output

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	parser "go.yaml.in/yaml/v3"
)

// sameAsJSON fails unless YAML means what JSON means.
func sameAsJSON(t *testing.T, text []byte) {
	t.Helper()
	got, err := YAML(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	var want, have any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if err := parser.Unmarshal(got, &have); err != nil {
		t.Fatalf("%s\n%v", got, err)
	}
	again, err := json.Marshal(have)
	if err == nil {
		err = json.Unmarshal(again, &have) // all numbers are float64 now
	}
	if err != nil || !reflect.DeepEqual(have, want) {
		t.Errorf("%s\nis\n%s\nwhich means %v, %v", text, got, have, err)
	}
}

func TestSameAsJSON(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `null`, `true`, `-12.5e3`, `""`, `"a"`, `9007199254740993`,
		`{"a":{},"b":[],"c":[[]],"d":[{}],"e":[[1,[2,3]],{"x":[{"y":1,"z":{"u":2}},4]}],"n":null}`,
		`{"y":1,"no":"no","true":true,"":"","a b":"x: y","- a":"- b","#":" #","on":"On","1":"1","~":"~","null":"NULL"}`,
		`["a","a b","a  b"," a","a ","a:","a: b","a #b","#a","-","- a","?","a?","!a","&a","*a","@a","%a","|",">","'a'","\"a\"","{a}","[a]","a,b","a, b","=","<<"]`,
		`["0x10","0o7","010","1_000","1e3",".5",".inf","-.inf",".nan","12:30:45","2026-01-02","2026-01-02T03:04:05Z","127.0.0.1:2181","1.2.3","+1","Infinity"]`,
		`["\u0000\u0007\u001b[2J\n\t\r\u007f\u0085\u009b\u00a0","\u2028\u202e\ufeff\ufffd","\ud83d\ude00\udb40\udc01","ü漢","\\n\"","C:\\n"]`,
		`["/locks/orders","orders-1 on web-7, pid 4242","...","---","--- a","a---"]`,
	} {
		sameAsJSON(t, []byte(text))
	}
}

// What is nested deeply has the same values, and the text is not much longer.
func TestDeep(t *testing.T) {
	for name, text := range map[string]string{
		"lists":                    strings.Repeat("[", 3000) + strings.Repeat("]", 3000),
		"objects":                  strings.Repeat(`{"a":`, 3000) + "{}" + strings.Repeat("}", 3000),
		"both":                     strings.Repeat(`{"a b: c":[1,"x, y",null,[],{},`, 1000) + `"no"` + strings.Repeat(`,true],"":"\u001b{","k":[{"m":-1.5,"n":"q"}]}`, 1000),
		"a list, 99 deep":          strings.Repeat("[", 99) + "[1,2]" + strings.Repeat("]", 99),
		"a list, 100 deep":         strings.Repeat("[", 100) + "[1,2]" + strings.Repeat("]", 100),
		"an object, 100 deep":      strings.Repeat(`{"k":`, 100) + `{"a":1}` + strings.Repeat("}", 100),
		"many numbers, 50 deep":    strings.Repeat("[", 50) + strings.Repeat("1,", 50_000) + "1" + strings.Repeat("]", 50),
		"many objects, 50 deep":    strings.Repeat(`{"k":`, 50) + "[" + strings.Repeat(`{"a":1},`, 20_000) + "{}]" + strings.Repeat("}", 50),
		"a long list that is flat": "[" + strings.Repeat(`{"a":{"b":1}},`, 5_000) + "null]",
	} {
		sameAsJSON(t, []byte(text))
		if got, err := YAML([]byte(text)); err != nil || len(got) > max(64<<10, 4*len(text)) {
			t.Errorf("%s: %d bytes of %d, %v", name, len(got), len(text), err)
		}
	}
}

func TestForm(t *testing.T) {
	got, err := YAML([]byte(`{"locks":[{"path":"/a","holders":[{"token":7},{"token":8}],"waiters":[]},{"path":"/b c"}],"k":{"m":"0x1"}}`))
	const want = `locks:
  - path: /a
    holders:
      - token: 7
      - token: 8
    waiters: []
  - path: /b c
k:
  m: "0x1"
`
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	for _, text := range []string{"", "{", `{"a":1} {}`, "x", "[]]]", "{}}"} {
		if got, err := YAML([]byte(text)); err == nil {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// What is printable is not escaped, also above U+FFFF, and a long name is on the line of its value. The writer
// of go.yaml.in/yaml does neither: it writes \U0001F600, and "? name" on one line and ": 1" on the next.
func TestReadable(t *testing.T) {
	name := strings.Repeat("n", 200)
	const want = `a: "😀 𠮷"
`
	got, err := YAML([]byte(`{"a":"😀 𠮷","` + name + `":1}`))
	if err != nil || string(got) != want+name+": 1\n" {
		t.Errorf("%v\n%s", err, got)
	}
}

// FuzzStrings writes strings as values and as names.
func FuzzStrings(f *testing.F) {
	for _, text := range []string{"", "a", "no", "a: b", "\x1b", "\U0001f600", "\u2028", "- a", "a #b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		encoded, err := json.Marshal(map[string]any{"k": text, text + "_": []string{text, text}})
		if err != nil {
			t.Fatal(err)
		}
		sameAsJSON(t, encoded)
	})
}
