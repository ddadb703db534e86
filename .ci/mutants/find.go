package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant is one change of one file.
type mutant struct {
	pkg        *pkg
	file       int // index in pkg.files
	start, end int // the bytes that text replaces
	text       string
	line       int
	body       *ast.BlockStmt // of the function around it, or nil
	leave      string         // ends a copy of body

	id key
}

// A key names a mutant, or a few that are alike, as long as the lines that it changes stay as
// they are.
type key struct {
	function      string // with its package: internal/bits.Memory.Slice
	before, after string // whole lines, as one, without indentation
}

// String returns a mutant as a list of equivalents has it.
func (k key) String() string { return fmt.Sprintf("%s\n- %s\n+ %s\n", k.function, k.before, k.after) }

// source returns the file with the change.
func (m mutant) source() []byte {
	src := m.pkg.sources[m.file]
	return slices.Concat(src[:m.start], []byte(m.text), src[m.end:])
}

// swaps are the operators that stand in for others.
var swaps = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	token.SHL: token.SHR, token.SHR: token.SHL,
	token.AND: token.OR, token.OR: token.AND, token.XOR: token.AND, token.AND_NOT: token.AND,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.MUL_ASSIGN: token.QUO_ASSIGN,
	token.QUO_ASSIGN: token.MUL_ASSIGN, token.REM_ASSIGN: token.MUL_ASSIGN, token.SHL_ASSIGN: token.SHR_ASSIGN,
	token.SHR_ASSIGN: token.SHL_ASSIGN, token.AND_ASSIGN: token.OR_ASSIGN, token.OR_ASSIGN: token.AND_ASSIGN,
	token.XOR_ASSIGN: token.AND_ASSIGN, token.AND_NOT_ASSIGN: token.AND_ASSIGN,
	token.INC: token.DEC, token.DEC: token.INC, token.BREAK: token.CONTINUE, token.CONTINUE: token.BREAK,
}

// names are the predeclared identifiers that stand in for others.
var names = map[string]string{"min": "max", "max": "min", "true": "false", "false": "true"}

// A finder finds the mutants of a file.
type finder struct {
	pkg      *pkg
	file     int
	function string
	body     *ast.BlockStmt // of the function; nil if mutants of it cannot be built together
	leave    string         // "return", if the function has no results
	found    []mutant
}

// find returns all mutants of a package, in the order of the source. Some may not compile.
func find(p *pkg) []mutant {
	var all []mutant
	for i, f := range p.files {
		s := finder{pkg: p, file: i}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				s.function = d.Name.Name
				if d.Recv != nil {
					s.function = receiver(d.Recv.List[0].Type) + "." + s.function
				}
				if s.body = d.Body; d.Body == nil {
					continue
				}
				if s.leave = ""; d.Type.Results == nil {
					s.leave = "return\n"
				}
				ast.Inspect(d.Body, s.labels)
				ast.Inspect(d.Body, s.node)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if v, ok := spec.(*ast.ValueSpec); ok {
						s.function, s.body = v.Names[0].Name, nil
						for _, x := range v.Values {
							ast.Inspect(x, s.node)
						}
					}
				}
			}
		}
		all = append(all, s.found...)
	}
	return all
}

// labels forgets the body of a function with labels, which must not be there twice.
func (s *finder) labels(n ast.Node) bool {
	if _, ok := n.(*ast.LabeledStmt); ok {
		s.body = nil
	}
	return s.body != nil
}

// receiver returns the name of a receiver's type.
func receiver(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	}
	return x.(*ast.Ident).Name
}

// node adds the mutants of n, and reports whether the nodes in it have some.
func (s *finder) node(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		s.operator(n.OpPos, n.Op)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			s.replace(n.OpPos, n.OpPos+1, "")
		}
	case *ast.BasicLit:
		if v, ok := new(big.Int).SetString(n.Value, 0); ok && n.Kind == token.INT {
			one := big.NewInt(1)
			s.replace(n.Pos(), n.End(), new(big.Int).Add(v, one).String())
			if v.Sign() > 0 {
				s.replace(n.Pos(), n.End(), new(big.Int).Sub(v, one).String())
			}
		}
	case *ast.Ident:
		if o := s.pkg.info.Uses[n]; o != nil && o.Pkg() == nil && names[n.Name] != "" {
			s.replace(n.Pos(), n.End(), names[n.Name])
		}
	case *ast.CallExpr:
		return s.call(n)
	case *ast.IfStmt:
		return s.branch(n)
	case *ast.BlockStmt:
		s.statements(n.List)
	case *ast.CaseClause:
		s.statements(n.Body)
	case *ast.CommClause:
		s.statements(n.Body)
	case *ast.SwitchStmt:
		s.cases(n.Body)
	case *ast.TypeSwitchStmt:
		s.cases(n.Body)
	case *ast.AssignStmt:
		s.operator(n.TokPos, n.Tok)
	case *ast.IncDecStmt:
		s.operator(n.TokPos, n.Tok)
	case *ast.BranchStmt:
		s.operator(n.Pos(), n.Tok)
	}
	return true
}

// call leaves out what no result depends on: the capacities of slices and maps, what panics
// say, and where a slice ends of which package binary takes the first bytes.
func (s *finder) call(n *ast.CallExpr) bool {
	hints := -1 // the first argument that is one
	switch f := n.Fun.(type) {
	case *ast.Ident:
		switch s.pkg.info.Uses[f] {
		case types.Universe.Lookup("panic"):
			hints = 0
		case types.Universe.Lookup("make"):
			hints = 2
			if _, ok := s.pkg.info.TypeOf(n).Underlying().(*types.Map); ok {
				hints = 1
			}
		}
	case *ast.SelectorExpr:
		o := s.pkg.info.Uses[f.Sel]
		if o == nil || o.Pkg() == nil || len(n.Args) == 0 {
			break
		}
		if o.Pkg().Path() == "slices" && o.Name() == "Grow" {
			hints = 1
		}
		if b, ok := n.Args[0].(*ast.SliceExpr); ok && o.Pkg().Path() == "encoding/binary" && b.Low != nil {
			ast.Inspect(b.Low, s.node)
			for _, x := range n.Args[1:] {
				ast.Inspect(x, s.node)
			}
			return false
		}
	}
	if hints < 0 {
		return true
	}
	ast.Inspect(n.Fun, s.node)
	for _, x := range n.Args[:min(hints, len(n.Args))] {
		ast.Inspect(x, s.node)
	}
	return false
}

// branch negates conditions, and takes away what returns early. It leaves out branches that
// are never taken on this machine.
func (s *finder) branch(n *ast.IfStmt) bool {
	cond := s.pkg.text(s.file, n.Cond)
	negated, ok := n.Cond.(*ast.BinaryExpr) // the mutants of these operators are negations
	if _, not := n.Cond.(*ast.UnaryExpr); !not && !(ok && (negated.Op == token.EQL || negated.Op == token.NEQ)) {
		s.replace(n.Cond.Pos(), n.Cond.End(), "!("+cond+")")
	}
	if n.Else == nil && len(n.Body.List) > 0 && leaves(n.Body.List[len(n.Body.List)-1]) {
		s.replace(n.Cond.Pos(), n.Cond.End(), "false && ("+cond+")")
	}
	if v := s.pkg.info.Types[n.Cond].Value; v != nil && v.Kind() == constant.Bool && !constant.BoolVal(v) {
		ast.Inspect(n.Cond, s.node)
		if n.Else != nil {
			ast.Inspect(n.Else, s.node)
		}
		return false
	}
	return true
}

// leaves reports whether what follows a statement is never run after it.
func leaves(n ast.Stmt) bool {
	switch n := n.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	case *ast.ExprStmt:
		call, ok := n.X.(*ast.CallExpr)
		if !ok {
			return false
		}
		f, ok := call.Fun.(*ast.Ident)
		return ok && f.Name == "panic"
	}
	return false
}

// statements takes statements away.
func (s *finder) statements(list []ast.Stmt) {
	for _, n := range list {
		switch n := n.(type) {
		case *ast.ExprStmt, *ast.DeferStmt, *ast.GoStmt, *ast.IncDecStmt:
			s.replace(n.Pos(), n.End(), "")
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				s.replace(n.Pos(), n.End(), "")
			}
		}
	}
}

// cases exchanges what neighbouring cases of a switch do.
func (s *finder) cases(body *ast.BlockStmt) {
	for i, n := range body.List[:max(0, len(body.List)-1)] {
		a, b := n.(*ast.CaseClause), body.List[i+1].(*ast.CaseClause)
		if len(a.Body) == 0 || len(b.Body) == 0 {
			continue
		}
		start, mid, end := s.offset(a.Colon)+1, s.offset(a.End()), s.offset(b.End())
		colon := s.offset(b.Colon) + 1
		src := string(s.pkg.sources[s.file])
		s.add(start, end, src[colon:end]+src[mid:colon]+src[start:mid])
	}
}

func (s *finder) operator(at token.Pos, op token.Token) {
	if to, ok := swaps[op]; ok {
		s.replace(at, at+token.Pos(len(op.String())), to.String())
	}
}

func (s *finder) replace(from, to token.Pos, text string) { s.add(s.offset(from), s.offset(to), text) }

func (s *finder) offset(p token.Pos) int { return s.pkg.fset.Position(p).Offset }

func (s *finder) add(start, end int, text string) {
	src := s.pkg.sources[s.file]
	from := bytes.LastIndexByte(src[:start], '\n') + 1
	to := end + bytes.IndexByte(append(src[end:len(src):len(src)], '\n'), '\n')
	oneLine := func(b ...string) string { return strings.Join(strings.Fields(strings.Join(b, "")), " ") }
	s.found = append(s.found, mutant{
		pkg: s.pkg, file: s.file, start: start, end: end, text: text, line: bytes.Count(src[:start], []byte("\n")) + 1,
		body: s.body, leave: s.leave,
		id: key{
			function: filepath.ToSlash(s.pkg.name) + "." + s.function,
			before:   oneLine(string(src[from:to])),
			after:    oneLine(string(src[from:start]), text, string(src[end:to])),
		},
	})
}
