package schema_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/go-curator/curator/framework/schema"
)

func Example() {
	isJSON := schema.ValidatorFunc(func(_ *schema.Schema, change schema.Change) error {
		if change.Op != schema.OpSetACL && !json.Valid(change.Data) {
			return errors.New("it must be JSON")
		}
		return nil
	})
	config, err := schema.New("config", "/app/config",
		schema.WithDocumentation("What every member reads first."),
		schema.WithEphemeral(schema.Cannot), schema.WithCanBeDeleted(false), schema.WithValidator(isJSON))
	if err != nil {
		log.Fatal(err)
	}
	members, err := schema.NewRegexp("members", "/app/members/[^/]+", schema.WithEphemeral(schema.Must))
	if err != nil {
		log.Fatal(err)
	}
	set, err := schema.NewSet([]*schema.Schema{config, members}, true)
	if err != nil {
		log.Fatal(err)
	}

	// A client with the set makes these checks itself.
	fmt.Println(set.ValidateCreate("/app/members/a", false, false, nil, nil))
	fmt.Println(set.ValidateSetData("/app/config", []byte("{")))
	fmt.Println(set.ValidateDelete("/app/config"))
	fmt.Println(set.ValidateDelete("/elsewhere"))
	// Output:
	// create /app/members/a: must be ephemeral (schema "members")
	// setData /app/config: is not valid: it must be JSON (schema "config")
	// delete /app/config: cannot be deleted (schema "config")
	// <nil>
}

func ExampleForRecipe() {
	parent, err := schema.ForRecipeParent("orders", "/locks/orders")
	if err != nil {
		log.Fatal(err)
	}
	nodes, err := schema.ForRecipe("contenders", "/locks/orders")
	if err != nil {
		log.Fatal(err)
	}
	set, err := schema.NewSet([]*schema.Schema{parent, nodes}, false)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(set.ValidateCreate("/locks/orders/lock-", true, true, nil, nil))
	fmt.Println(set.ValidateCreate("/locks/orders/lock-", true, false, nil, nil))
	fmt.Println(set.ValidateCreate("/locks/other", false, false, nil, nil))
	// Output:
	// <nil>
	// create /locks/orders/lock-: must be sequential (schema "contenders")
	// create /locks/other: there is no schema for this path
}

func ExampleLoadJSON() {
	schemas, err := schema.LoadJSON(strings.NewReader(`[
		{"name": "jobs", "path": "/jobs", "ephemeral": "cannot", "metadata": {"owner": "billing"}},
		{"name": "job", "path": "/jobs/.*", "isRegex": true, "sequential": "must", "canBeDeleted": true}
	]`), nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range schemas {
		fmt.Println(s.Name(), s.RawPath(), s.Ephemeral(), s.Sequential(), s.CanBeDeleted(), s.Metadata())
	}
	_, err = schema.LoadJSON(strings.NewReader(`[{"name": "jobs", "path": "/jobs", "color": "red"}]`), nil)
	fmt.Println(err)
	// Output:
	// jobs /jobs cannot can false map[owner:billing]
	// job /jobs/.* can must true map[]
	// load schemas: invalid schema: number 1: "jobs": there is no key "color"
}
