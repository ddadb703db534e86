// Package text writes results for people: tables, numbers and sizes; and as JSON.
package text
