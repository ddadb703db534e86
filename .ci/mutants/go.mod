module mutants

go 1.26.0
