// Package units lets commands work on units of a plan, for jobs of a batch system: each makes a
// file and a record of it in a folder, which can be collected later.
package units
