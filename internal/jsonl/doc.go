// Package jsonl parses entries in the JSON that value.AppendJSON and the tool's
// command cat print, into the dynamic values of package value.
//
// The schema determines the types of values. The JSON is that of value.AppendJSON in any
// formatting: white space, the order of members, and the spelling of numbers and strings are free
// within the rules of JSON. In detail:
//
//   - Integers have neither a point nor an exponent and fit the field's type.
//   - Floats are rounded to the nearest of the field's type, and to zero, but
//     not to infinity. The payload of a NaN is not in the JSON and so is lost.
//   - In strings, a lone surrogate from \udc80 to \udcff is the byte in its low
//     eight bits. Other lone surrogates are errors. Bytes that are not UTF-8 are
//     taken as they are.
//   - Objects have each member of the record, once, and no others. A member that
//     is an optional may be missing, and is then empty. Projected fields may be
//     there or not; they are views on other fields, and what they hold is read
//     and dropped.
//   - Maps with string keys are objects or arrays of [key,value], other maps
//     arrays of [key,value]. Keys may repeat.
//
// # Variants
//
// JSON does not identify the alternative of a variant. The Reader chooses the first alternative
// whose value is printed as the JSON that was read, ignoring white space and the spelling of
// numbers (1.5, 1.50) and strings. Within variants, floats are printed with a point: 3 is an
// integer if there is an integer alternative, 3.0 never is. If no alternative prints the same JSON,
// the Reader chooses the first that represents the numbers exactly, otherwise the first that
// accepts the JSON. So values read from the output of cat print the same JSON, but if several
// alternatives do, the first one is chosen:
//
//   - a double of few digits becomes a float in variant<float,double>, and a
//     float becomes a double in variant<double,float>
//   - among integer types, the first that has the number in its range
//   - among strings, bitsets and the floats "NaN" and "Infinity", the first that
//     takes the string
//   - of types with the same JSON (sets and vectors, an enum and its integer,
//     classes whose members have the same names and fit), the first; an empty
//     array is of the first collection
//   - null is the variant without a value, never an empty optional in it or an
//     inner variant without a value; likewise, it is the outermost optional
package jsonl
