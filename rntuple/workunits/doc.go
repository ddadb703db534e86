// Package workunits cuts data sets of many files into units of work, for threads, jobs of a batch
// system, or the workers of an engine.
//
// A Plan lists the files of a data set, as they are, and the units: ranges of entries, cut where
// clusters end, of about equal cost. It is a JSON document, so that one program makes it and many
// use it:
//
//	plan, err := workunits.Make(ctx, paths, workunits.Options{Count: 200, Fields: []string{"Muon_*"}})
//	...
//	source, err := plan.Open(17, nil)
//
// Together, the units have each entry once, in the order of the files. A file that has changed
// since the plan was made is an error, not another result.
package workunits
