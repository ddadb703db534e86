package formula

import "fmt"

// length returns the number of items of an array.
func length(v any) (n int, ok bool) {
	switch v := v.(type) {
	case []float64:
		return len(v), true
	case []int64:
		return len(v), true
	case []int:
		return len(v), true
	case []bool:
		return len(v), true
	case []string:
		return len(v), true
	case []any:
		return len(v), true
	}
	return 0, false
}

// item returns an item of an array.
func item(v any, i int) any {
	switch v := v.(type) {
	case []float64:
		return v[i]
	case []int64:
		return v[i]
	case []int:
		return int64(v[i])
	case []bool:
		return v[i]
	case []string:
		return v[i]
	case []any:
		return v[i]
	}
	return nil
}

// integer returns a value that is an integer.
func integer(v any) (n int64, ok bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	}
	return 0, false
}

// number returns a value that is a number.
func number(v any) (x float64, ok bool) {
	if x, ok = v.(float64); ok {
		return x, true
	}
	n, ok := integer(v)
	return float64(n), ok
}

// numbers returns the items of an array of numbers. A missing item is not ok.
func numbers(v any) (all []float64, ok bool) {
	if all, ok = v.([]float64); ok {
		return all, true
	}
	n, ok := length(v)
	all = make([]float64, n)
	for i := range all {
		if all[i], ok = number(item(v, i)); !ok {
			return nil, false
		}
	}
	return all, ok
}

// integers returns the items of an array of integers. A missing item is not ok.
func integers(v any) (all []int64, ok bool) {
	if all, ok = v.([]int64); ok {
		return all, true
	}
	n, ok := length(v)
	all = make([]int64, n)
	for i := range all {
		if all[i], ok = integer(item(v, i)); !ok {
			return nil, false
		}
	}
	return all, ok
}

// incomplete reports whether a value is missing, or an item of an array.
func incomplete(v any) bool {
	if v == nil {
		return true
	}
	if all, ok := v.([]any); ok {
		for _, item := range all {
			if incomplete(item) {
				return true
			}
		}
	}
	return false
}

// noun says what a value is, for messages.
func noun(v any) string {
	switch v.(type) {
	case nil:
		return "nil"
	case bool:
		return "a bool"
	case int, int64:
		return "an integer"
	case float64:
		return "a float"
	case string:
		return "a string"
	case map[string]any:
		return "a record"
	}
	if _, ok := length(v); ok {
		return "an array"
	}
	return fmt.Sprintf("a %T", v)
}

// pack returns an array of items in the slice for items of their type, if none is
// missing.
func pack(items []any) any {
	if len(items) == 0 {
		return items
	}
	switch items[0].(type) {
	case float64:
		return packed[float64](items)
	case int64:
		return packed[int64](items)
	case bool:
		return packed[bool](items)
	case string:
		return packed[string](items)
	}
	return items
}

func packed[T any](items []any) any {
	all := make([]T, len(items))
	for i, v := range items {
		x, ok := v.(T)
		if !ok {
			return items
		}
		all[i] = x
	}
	return all
}

// store returns a value in the form in which values of a type are stored.
func store(v any, t Type) (any, error) {
	switch {
	case v == nil:
		if !t.Missing {
			return nil, fmt.Errorf("there is no value")
		}
		return nil, nil
	case t.Kind == Int:
		if n, ok := integer(v); ok {
			return n, nil
		}
	case t.Kind == Float:
		if x, ok := number(v); ok {
			return x, nil
		}
	case t.Kind == Array:
		n, ok := length(v)
		if !ok {
			break
		}
		switch item := *t.Elem; {
		case !item.isScalar():
			return storeItems(v, n, item)
		case item.Kind == Float:
			if all, ok := numbers(v); ok {
				return all, nil
			}
		case item.Kind == Int:
			if all, ok := integers(v); ok {
				return all, nil
			}
		case item.Kind == Bool:
			return storeAll[bool](v, n, item)
		case item.Kind == String:
			return storeAll[string](v, n, item)
		}
	default:
		return v, nil
	}
	return nil, fmt.Errorf("the value is %s, not %s", noun(v), t.described())
}

func storeItems(v any, n int, t Type) (any, error) {
	all := make([]any, n)
	for i := range all {
		var err error
		if all[i], err = store(item(v, i), t); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func storeAll[T any](v any, n int, t Type) (any, error) {
	if _, ok := v.([]T); ok {
		return v, nil
	}
	all := make([]T, n)
	for i := range all {
		x, ok := item(v, i).(T)
		if !ok {
			return nil, fmt.Errorf("an item is %s, not %s", noun(item(v, i)), t.described())
		}
		all[i] = x
	}
	return all, nil
}
