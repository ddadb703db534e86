package rntgroot

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-rntuple/go-rntuple/container"
	"github.com/go-rntuple/go-rntuple/remote"
)

// treeClasses are the classes of trees.
var treeClasses = []string{"TTree", "TNtuple", "TNtupleD"}

// An openFile is a ROOT file with its trees.
type openFile struct {
	*container.File
	path    string  // that can be shown
	classes classes // nil until a tree is read
}

func openTrees(name string, far remote.Options) (*openFile, error) {
	f, err := container.Open(context.Background(), name, &far)
	if err != nil {
		return nil, err
	}
	return &openFile{File: f, path: remote.Redact(name)}, nil
}

// A treeKey is the key of a tree, and its path in the file.
type treeKey struct {
	name string
	container.Key
}

// keys returns the keys of all trees, of those of a name only that of the highest cycle.
func (o *openFile) keys() (all []treeKey, err error) {
	err = o.Walk(func(dir string, k container.Key) error {
		if !slices.Contains(treeClasses, k.Class) {
			return nil
		}
		name := path.Join(dir, k.Name)
		i := slices.IndexFunc(all, func(t treeKey) bool { return t.name == name })
		switch {
		case i < 0:
			all = append(all, treeKey{name, k})
		case all[i].Cycle < k.Cycle:
			all[i].Key = k
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.path, err)
	}
	return all, nil
}

// find returns the key of the tree of the given name, or of the only one.
func (o *openFile) find(name string) (treeKey, error) {
	all, err := o.keys()
	if err != nil {
		return treeKey{}, err
	}
	var names []string
	for _, k := range all {
		if k.name == name || name == "" && len(all) == 1 {
			return k, nil
		}
		names = append(names, fmt.Sprintf("%q", k.name))
	}
	switch {
	case len(all) == 0:
		return treeKey{}, fmt.Errorf("%s: the file has no TTree", o.path)
	case name == "":
		return treeKey{}, fmt.Errorf("%s: the file has several trees: %s", o.path, strings.Join(names, ", "))
	}
	if k, err := o.Find(name, treeClasses...); err == nil { // with a cycle
		return treeKey{name, k}, nil
	}
	return treeKey{}, fmt.Errorf("%s: there is no tree %q, only %s", o.path, name, strings.Join(names, ", "))
}

// read reads a tree.
func (o *openFile) read(k treeKey) (t *tree, err error) {
	err = recovered(func() error {
		if o.classes == nil {
			if o.classes, err = infosOf(o.File); err != nil {
				return err
			}
		}
		t, err = readTree(o.File, o.classes, k.Key)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: tree %q: %w", o.path, k.name, err)
	}
	t.file, t.name = o.path, k.name
	return t, nil
}

// Trees returns descriptions of all TTrees in a ROOT file, including those in directories, with
// only the highest cycle of each name. The options apply to URLs.
func Trees(path string, far *remote.Options) ([]TreeInfo, error) {
	if far == nil {
		far = new(remote.Options)
	}
	o, err := openTrees(path, *far)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	keys, err := o.keys()
	if err != nil {
		return nil, err
	}
	var all []TreeInfo
	for _, k := range keys {
		t, err := o.read(k)
		if err != nil {
			return nil, err
		}
		info := TreeInfo{Name: k.name, Class: k.Class, Title: t.title, Cycle: k.Cycle, Entries: t.entries}
		for _, b := range t.branches {
			info.Branches = append(info.Branches, b.info())
		}
		all = append(all, info)
	}
	return all, nil
}

// info describes a branch.
func (b *branch) info() BranchInfo {
	i := BranchInfo{Name: b.name, Type: b.class, Title: b.title}
	switch {
	case b.class != "" || len(b.leaves) == 0:
	case b.kind == "TBranchObject":
		i.Type = b.leaves[0].title
	case len(b.leaves) == 1:
		i.Type = b.leaves[0].cppType()
	default:
		var all []string
		for _, l := range b.leaves {
			t := leafTypes[l.kind]
			letter := t.letter
			if l.unsigned {
				letter = t.unsignedLetter
			}
			name, _, _ := strings.Cut(l.title, "/")
			all = append(all, name+"/"+letter)
		}
		i.Type = strings.Join(all, ":")
	}
	if i.Type == "" {
		i.Type = b.kind
	}
	return i
}

// cppType returns the type of a leaf, with its dimensions.
func (l *leaf) cppType() string {
	t, ok := leafTypes[l.kind]
	if !ok {
		return l.kind
	}
	name, _, _ := strings.Cut(l.title, "/")
	_, dims, found := strings.Cut(name, "[")
	if found {
		dims = "[" + dims
	}
	code := t.code
	if l.unsigned {
		code = t.unsigned
	}
	return codeNames[code] + dims
}

var codeNames = map[int32]string{
	codeBool: "bool", codeChar: "char", codeUChar: "unsigned char", codeShort: "short",
	codeUShort: "unsigned short", codeInt: "int",
	codeUInt: "unsigned int", codeLong: "long", codeULong: "unsigned long", codeLong64: "Long64_t",
	codeULong64: "ULong64_t",
	codeFloat:   "float", codeDouble: "double", codeFloat16: "Float16_t",
	codeDouble32: "Double32_t", codeCharStar: "char*",
}

// infosOf reads the streamer information of a file.
func infosOf(f *container.File) (classes, error) {
	all := classes{}
	k, b, err := f.StreamerInfo()
	if err != nil || b == nil {
		return all, err
	}
	list, err := parseInfos(append(make([]byte, k.KeyLen), b...), k.KeyLen)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		all.add(c)
	}
	return all, nil
}

// readTree reads the tree whose key is k, below the folder dir.
func readTree(f *container.File, all classes, k container.Key) (*tree, error) {
	b, err := f.Object(k)
	if err != nil {
		return nil, err
	}
	s := newStream(all, append(make([]byte, k.KeyLen), b...), k.Class)
	s.plain = true
	s.skip(k.KeyLen)
	o, _ := s.object(k.Class, -1).(*Object)
	if s.c.Err() != nil {
		return nil, s.c.Err()
	}
	t := &tree{r: f, size: f.Size(), classes: all}
	p := parts{tree: t, leaves: map[*Object]*leaf{}}
	t.title = p.text(o, "fTitle")
	t.entries = p.int(o, "fEntries")
	t.branches = p.branches(o)
	if p.err == nil && t.entries < 0 {
		p.fail("fEntries", fmt.Sprint(t.entries))
	}
	return t, p.err
}
