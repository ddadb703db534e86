// Package text formats results as tables, numbers and sizes for humans, and as JSON.
package text
