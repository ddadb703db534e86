// Package rewrite makes RNTuples out of others. It is the one engine behind the
// operations of package surgery.
//
// A [Job] says which RNTuples the entries come from, which entries those are, and
// what becomes of the schema. [Run] does jobs in two passes over the inputs. The
// first one finds out whether they go together, before anything is written; the second
// one copies:
//
//	plan:  for each step  open its inputs, compare their schemas, close them
//	do:    for each step  open its inputs, map their fields to those of the output,
//	                      copy the entries and then the attribute sets, close them
//
// A step has one input, or all of them if they lie side by side. Its mapping says
// where each field of the output comes from. There is one loop that copies entries
// ([mapping.copyEntries]). It takes over whole clusters page by page, at the lowest
// level that is right (clusters.go), joins the clusters of several inputs where that
// gives good ones (beside.go), and otherwise copies elements into new pages
// (copier.go). Columns of the extension are created when their first element that is
// not zero arrives, so that they become deferred columns.
package rewrite
