// Package units implements the flags with which batch jobs process units of a plan. For each unit,
// a job writes a file and a record of it to a folder, from which the outputs are later collected.
package units
