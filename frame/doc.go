// Package frame reads and writes record and list frames, the containers that
// let RNTuple's metadata grow: a frame begins with its size, so that a reader can
// keep what follows the members that it knows without understanding it.
//
// Records are described once, for both directions: a function walks a Codec over
// the members of a record, and a Codec made by NewReader reads them, one made by
// NewWriter writes them. Packages anchor, locator and envelope describe the
// records of the format in this way; their types can be read and written with the
// Codecs of this package.
//
//	func (p *Point) Wire(c *frame.Codec) {
//		frame.Record(c, "point", &p.Extra, func() {
//			frame.Int(c, "x", &p.X)
//			frame.Int(c, "y", &p.Y)
//			c.String("label", &p.Label)
//		})
//	}
//
// Source: specification, sections "Basic Types" and "Frames".
package frame
