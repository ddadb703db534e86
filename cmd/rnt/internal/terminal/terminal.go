package terminal

import (
	"os"

	"golang.org/x/term"
)

// pretended is the size of what all streams are taken for; 0, 0 is none.
var pretended [2]int

// Pretend has all streams taken for terminals of a size, for tests, until the function that it
// returns is called.
func Pretend(width, height int) (end func()) {
	before := pretended
	pretended = [2]int{width, height}
	return func() { pretended = before }
}

// Is reports whether a reader or writer is a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	return pretended[0] > 0 || ok && term.IsTerminal(int(f.Fd()))
}

// Size returns the size of a terminal in characters; 0, 0 if it is not known.
func Size(stream any) (width, height int) {
	if pretended[0] > 0 {
		return pretended[0], pretended[1]
	}
	if f, ok := stream.(*os.File); ok {
		if width, height, err := term.GetSize(int(f.Fd())); err == nil {
			return width, height
		}
	}
	return 0, 0
}
