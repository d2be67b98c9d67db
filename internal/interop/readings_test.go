package interop_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-curator/curator/recipes/discovery"
)

// readings are texts of instances, most of which no serializer writes, but people and scripts do.
// The largest longs are not among them, because this release of Jackson refuses them as numbers.
func readings() (texts []string) {
	for _, key := range []string{"port", "sslPort", "registrationTimeUTC"} {
		for _, value := range []string{
			`"8080"`, `" 8080 "`, `""`, `" "`, `"null"`, `"8080.0"`, `"x"`, `"0x10"`, `"+5"`, `"-5"`, `"007"`, `"5e3"`, `"99999999999"`, `"9223372036854775807"`,
			`8080.0`, `8080.9`, `-1.9`, `8.08e3`, `1e10`, `1e300`, `-0.0`, `5e-324`, `99999999999`, `9223372036854775`, `9223372036854775808`, `2147483648.5`,
			`2147483647.9`, `-2147483648.9`, `9223372036854775807.5`, `true`, `false`, `null`, `[]`, `[5]`, `{}`, `"\u0035"`, `"5_000"`,
		} {
			texts = append(texts, fmt.Sprintf(`{"%s":%s}`, key, value))
		}
	}
	for _, value := range []string{
		`null`, `true`, `false`, `"true"`, `"false"`, `"True"`, `"TRUE"`, `"FALSE"`, `"tRue"`, `" true "`, `""`, `" "`, `"null"`, `"x"`, `"0"`, `"1"`,
		`0`, `1`, `2`, `-1`, `0.0`, `0.5`, `1e0`, `00`, `[]`, `[false]`, `{}`, `99999999999`, `99999999999999999999`,
	} {
		texts = append(texts, fmt.Sprintf(`{"enabled":%s}`, value))
	}
	for _, value := range []string{
		`"DYNAMIC"`, `"STATIC"`, `" STATIC "`, `"static"`, `""`, `" "`, `"null"`, `0`, `1`, `2`, `3`, `4`, `-1`, `"0"`, `"1"`, `"3"`, `"4"`, `" 1 "`, `"01"`, `1.0`, `1.5`,
		`true`, `null`, `[]`, `["STATIC"]`, `{}`, `"-1"`, `"1.0"`, `99999999999`, `"12345678901"`,
	} {
		texts = append(texts, fmt.Sprintf(`{"serviceType":%s}`, value))
	}
	for _, value := range []string{
		`"{scheme}://{address}:{port}"`, `""`, `" "`, `"plain"`, `"{"`, `"}"`, `"{a{b}}"`, `"{ a }"`, `"null"`, `{}`, `{"parts":null}`, `{"parts":[]}`,
		`{"parts":[{"value":"a"}]}`, `{"parts":[{"value":"a","variable":"true"}]}`, `{"parts":[{"value":"a","variable":1}]}`, `{"parts":[{"value":5,"variable":null}]}`,
		`{"parts":[{"value":null,"variable":true}]}`, `{"parts":[{}]}`, `{"parts":[null]}`, `{"parts":{}}`, `{"parts":"a"}`, `{"parts":["a"]}`, `{"other":1,"parts":[{"value":"a","other":1}]}`,
		`{"Parts":[{"value":"a"}]}`, `{"parts":[{"Value":"a"}]}`, `5`, `1.5`, `true`, `[]`, `["a"]`, `null`, `{"parts":[{"value":true}]}`, `{"parts":[{"value":"a b{}"}]}`,
	} {
		texts = append(texts, fmt.Sprintf(`{"uriSpec":%s}`, value))
	}
	for _, key := range []string{"name", "id", "address"} {
		for _, value := range []string{`5`, `1.50`, `true`, `null`, `""`, `" a "`, `"null"`, `[]`, `["a"]`, `{}`, `1e5`} {
			texts = append(texts, fmt.Sprintf(`{"%s":%s}`, key, value))
		}
	}
	for _, bom := range []string{"\ufeff", "\ufeff ", " \ufeff", "\ufeff\ufeff"} {
		texts = append(texts, bom+`{"name":"a"}`)
	}
	return append(texts, `{"port":1,"port":"2"}`, `{"name":"a","name":null}`, `{"NAME":"a"}`, `{"port":5,}`, `{'port':5}`, `{"port":05}`, `{"port":NaN}`, `{"port":.5}`,
		`{"port":+5}`, `{"port":5.}`, `{"enabled":false,"enabled":null}`, `{"port":1 /* x */}`, `null`, ``, `[]`, `[{}]`, `5`, `"x"`, `""`)
}

// unlikeGo are what Java writes where Go has no null, or no zero that is not null.
var unlikeGo = strings.NewReplacer(`"name":null`, `"name":""`, `"id":null`, `"id":""`, `"address":""`, `"address":null`,
	`ort":0,`, `ort":null,`, `"serviceType":null`, `"serviceType":"DYNAMIC"`, `{"value":null`, `{"value":""`)

// newerRefuses are texts that Jackson 2.18, with which Curator 5.9 comes, refuses; 2.14 reads them.
var newerRefuses = []string{`{"serviceType":"01"}`}

// What Java reads, Go reads as the same instance, and what Java refuses, Go refuses.
func TestInstancesOfOthers(t *testing.T) {
	t.Parallel()
	var q questions
	c := discovery.JSON[any](discovery.WithEnabledKey())
	for _, text := range readings() {
		i, err := c.Decode([]byte(text))
		got := "refused"
		if err == nil {
			data, err := c.Encode(i)
			if err != nil {
				t.Fatalf("%s: %v", text, err)
			}
			got = string(data)
		}
		q.add(func(answer string) {
			if curatorHome != "" && slices.Contains(newerRefuses, text) {
				if !strings.HasPrefix(answer, "!") || err != nil {
					t.Errorf("%q: Java reads\n%s\nGo\n%s, %v", text, answer, got, err)
				}
				return
			}
			if strings.HasPrefix(answer, "!") && err != nil || unlikeGo.Replace(answer) == got {
				return
			}
			t.Errorf("%q: Java reads\n%s\nGo\n%s, %v", text, answer, got, err)
		}, "read", "java.lang.Object", true, base64Of(text))
	}
	q.ask(t)
}
