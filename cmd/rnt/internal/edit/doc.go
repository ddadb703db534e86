// Package edit has the commands of rnt that make RNTuples, most of them from others, and change
// them: create, merge, slim, skim, concat, split, hmerge, repack, append, rename, index and plan.
package edit
