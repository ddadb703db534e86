package expression

// A column is a node of any of the types that values have.
type column interface {
	kind() Kind
	domain() *domain
	fixed() bool
	mark(at *place)
	evaluate(r *run)
	presence() *node[bool]
	spread(d *domain) column
	picked(rows *node[int64]) column
	mixed(which, at *node[int64], sources []value) column
	either(c *node[bool], no column) column
	narrow(c *node[bool], yes, no value)
	nowhere(d *domain) column
	accumulated(step *domain, l *loop) (acc column, reduced func(next column) column)
}

func (n *node[T]) kind() Kind {
	switch any(n).(type) {
	case *node[bool]:
		return Bool
	case *node[int64]:
		return Int
	case *node[float64]:
		return Float
	}
	return String
}

func (n *node[T]) domain() *domain { return n.of }
func (n *node[T]) fixed() bool     { return n.one != nil }

// mark says where in a text n is, unless it is known.
func (n *node[T]) mark(at *place) {
	if n.at == nil {
		n.at = at
	}
}

func (n *node[T]) evaluate(r *run)                        { n.rows(r) }
func (n *node[T]) presence() *node[bool]                  { return presence(n) }
func (n *node[T]) spread(d *domain) column                { return spread(n, d) }
func (n *node[T]) picked(rows *node[int64]) column        { return picked(n, rows) }
func (n *node[T]) nowhere(d *domain) column               { return nowhere[T](d) }
func (n *node[T]) either(c *node[bool], no column) column { return either(c, n, no.(*node[T])) }

// mixed is the function mixed for the columns of values of n's type, or nil.
func (n *node[T]) mixed(which, at *node[int64], sources []value) column {
	return mixed(which, at, columnsOfAll(sources, func(v value) *node[T] { return v.column.(*node[T]) }))
}

// narrow bounds n, whose values are those of yes where c is true, and of no elsewhere.
func (n *node[T]) narrow(c *node[bool], yes, no value) {
	n.known(alternative(c, yes.column.(*node[T]), no.column.(*node[T]), yes.missing, no.missing))
}

// scalar returns the value of a column.
func scalar(c column, missing bool) value {
	return value{of: c.domain(), kind: c.kind(), column: c, missing: missing}
}

func (v value) bools() *node[bool]     { return v.column.(*node[bool]) }
func (v value) ints() *node[int64]     { return v.column.(*node[int64]) }
func (v value) floats() *node[float64] { return v.column.(*node[float64]) }
func (v value) strings() *node[[]byte] { return v.column.(*node[[]byte]) }
