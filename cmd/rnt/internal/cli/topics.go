package cli

import (
	"github.com/spf13/cobra"

	"github.com/go-rntuple/go-rntuple/internal/formula"
)

// expressionsTopic returns what "rnt help expressions" prints.
func expressionsTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "expressions",
		Short: "The language of conditions, and its functions",
		Long:  formula.Help(),
	}
}
