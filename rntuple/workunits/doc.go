// Package workunits partitions data sets of many files into units of work for threads, batch jobs,
// or the workers of a processing engine.
//
// A Plan lists the files of a data set, with their versions, and the units: ranges of entries that
// end at cluster boundaries and have about equal cost. It is serialized as JSON, so that one
// program can make it and many can use it:
//
//	plan, err := workunits.Make(ctx, paths, workunits.Options{Count: 200, Fields: []string{"Muon_*"}})
//	...
//	source, err := plan.Open(17, nil)
//
// The units together contain each entry exactly once, in the order of the files. If a file has
// changed since the plan was made, opening a unit fails rather than silently returning different
// data.
package workunits
