package cpp_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-rntuple/go-rntuple/rntuple"
	"github.com/go-rntuple/go-rntuple/rntuple/cpp"
)

// An Event has fields of C++ types that Go has no types for.
type Event struct {
	Tags   cpp.Set[string]
	Weight cpp.Double32
	Result cpp.Variant2[int32, string]
}

// An RNTuple is written from structs; its schema has the C++ types.
func Example() {
	dir, err := os.MkdirTemp("", "cpp")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "events.root")
	w, err := rntuple.Create[Event](path, "Events", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Write(&Event{Tags: cpp.Set[string]{"good"}, Weight: 0.5}); err != nil {
		fmt.Println(err)
		return
	}
	if err := w.Close(); err != nil {
		fmt.Println(err)
		return
	}
	r, err := rntuple.Open(path, "Events", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for _, f := range r.Schema().Fields {
		fmt.Println(f)
	}
	// Output:
	// Tags: std::set<std::string>
	// Weight: Double32_t
	// Result: std::variant<std::int32_t,std::string>
}
