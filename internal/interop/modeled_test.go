package interop_test

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/go-curator/curator/framework/codec"
)

// model is that of testdata/Jackson.java.
type model struct {
	Item  string         `json:"item"`
	Count int32          `json:"count"`
	Price float64        `json:"price"`
	Open  bool           `json:"open"`
	Limit *int64         `json:"limit"`
	Tags  []string       `json:"tags"`
	Stock map[string]int `json:"stock"`
}

// modelsFile has what Jackson writes for models. Package modeled reads it in its tests.
var modelsFile = filepath.Join("..", "..", "recipes", "modeled", "testdata", "jackson.txt")

// Java reads the models that Go writes, and Go those that Java writes. The bytes differ: encoding/json
// escapes other characters than Jackson, and writes 0 where Jackson writes 0.0.
func TestModels(t *testing.T) {
	t.Parallel()
	limit := int64(1)<<53 + 1
	models := []model{
		{},
		{Item: "soap", Count: -3, Price: 1.5, Open: true, Limit: &limit, Tags: []string{"a", "b"}, Stock: map[string]int{"north": 7}},
		{Item: "grüße 日本 😀 \"quoted\" \\ /", Tags: []string{}, Stock: map[string]int{}},
		{Item: "a < b && c > d", Tags: []string{"tab\tand\nline", "\u2028"}},
	}
	json := codec.JSON[model]()
	var in, log bytes.Buffer
	for _, m := range models {
		data, err := json.Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		in.WriteString(base64.StdEncoding.EncodeToString(data) + "\n")
	}
	cmd := compiled(t).command("Jackson")
	cmd.Stdin, cmd.Stderr = &in, &log
	endWithParent(cmd)
	runtime.LockOSThread() // see jvm.run
	defer runtime.UnlockOSThread()
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	lines := strings.Fields(string(out))
	if len(lines) != len(models) {
		t.Fatalf("%d answers to %d models", len(lines), len(models))
	}
	var recorded strings.Builder
	for i, line := range lines {
		java, err := base64.StdEncoding.DecodeString(line)
		if err != nil {
			t.Fatal(err)
		}
		recorded.Write(append(java, '\n'))
		got, err := json.Decode(java)
		if err != nil || !reflect.DeepEqual(got, models[i]) {
			t.Errorf("%+v, %v, want %+v", got, err, models[i])
		}
	}
	if *rewriteNames {
		if err := os.WriteFile(modelsFile, []byte(recorded.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if kept, err := os.ReadFile(modelsFile); err != nil || string(kept) != recorded.String() {
		t.Errorf("Java writes other bytes than %s, %v; see -rewrite:\n%s", modelsFile, err, recorded.String())
	}
}
