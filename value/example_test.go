package value_test

import (
	"fmt"

	"github.com/go-rntuple/go-rntuple/value"
)

// A record of dynamic values is written as JSON.
func Example() {
	r := value.Record{
		Names:  []string{"run", "pt", "best"},
		Values: []any{uint32(7), []any{float32(1.5), float32(2)}, nil},
	}
	fmt.Printf("%s\n", value.AppendJSON(nil, r))
	// Output:
	// {"run":7,"pt":[1.5,2],"best":null}
}
