// Package frame reads and writes record and list frames, which make the metadata of RNTuple
// extensible: a frame starts with its size, so a reader can skip, and preserve, members added by
// newer versions of the format.
//
// Each record is described once, for both directions: a function calls the methods of a Codec for
// the members of the record in order; a Codec from NewReader reads them, one from NewWriter writes
// them. Packages anchor, locator and envelope describe the records of the format in this way, so
// their types can be read and written with the Codecs of this package.
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
