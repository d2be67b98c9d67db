package codec_test

import (
	"fmt"

	"github.com/go-curator/curator/framework/codec"
)

func Example() {
	type limits struct {
		Workers int `json:"workers"`
	}
	c := codec.JSON[limits]()
	data, err := c.Encode(limits{Workers: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(data))
	_, err = c.Decode([]byte("four"))
	fmt.Println(err)
	// Output:
	// {"workers":4}
	// invalid character 'o' in literal false (expecting 'a')
}
