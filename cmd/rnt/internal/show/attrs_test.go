package show

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/cli"
	"github.com/go-rntuple/go-rntuple/cmd/rnt/internal/clitest"
)

// The attributes are those of testdata/gen/special.C.
func TestAttrs(t *testing.T) {
	const file = special + "attributes.root"
	clitest.Compare(t, tool.RNT(t, "attrs", file), ""+
		"NAME    ATTRIBUTES  SCHEMA  FIELDS\n"+
		"first            4  1.0     name std::string, vec std::vector<float>\n"+
		"second           1  1.0     num std::int64_t\n")
	want := []setListing{
		{attributeSet{"first", "1.0"}, 4, []setField{{"name", "std::string"}, {"vec", "std::vector<float>"}}, ""},
		{attributeSet{"second", "1.0"}, 1, []setField{{"num", "std::int64_t"}}, ""},
	}
	if got := clitest.JSON[[]setListing](t, tool, "attrs", file, "main", "--json"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
	clitest.Compare(t, tool.RNT(t, "attrs", file, "main", "--set=first"), `{"first":0,"end":3,"attributes":{"name":"zero to two","vec":[1,2.5]}}
{"first":5,"end":7,"attributes":{"name":"z: five and six é","vec":[]}}
{"first":3,"end":7,"attributes":{"name":"y: three to six","vec":[-1]}}
{"first":7,"end":7,"attributes":{"name":"empty range","vec":[-1]}}
`)
	clitest.Compare(t, tool.RNT(t, "attrs", file, "--entry=4"), `{"set":"first","first":3,"end":7,"attributes":{"name":"y: three to six","vec":[-1]}}
{"set":"second","first":0,"end":10,"attributes":{"num":-42}}
`)
	clitest.Compare(t, tool.RNT(t, "attrs", file, "--entry=9", "--set", "second"),
		`{"first":0,"end":10,"attributes":{"num":-42}}`+"\n")
	clitest.Compare(t, tool.RNT(t, "attrs", file, "--entry=0", "--set", "second"),
		`{"first":0,"end":10,"attributes":{"num":-42}}`+"\n")
	tool.Fed(t, cli.ExitError, "", "attrs", file, "--entry=99")
	clitest.Compare(t, tool.RNT(t, "attrs", dimuon, "--json"), "[]\n")

	for _, test := range []struct {
		args   string
		status int
		stderr string
	}{
		{dimuon, cli.ExitOK, "rnt: " + dimuon + ": RNTuple \"Events\" has no attribute sets\n"},
		{file + " --set third", cli.ExitError,
			`rnt: ` + file + `: attribute set "third": not found; the RNTuple has ["first" "second"]` + "\n"},
		{file + " --set=", cli.ExitUsage, "rnt: --set is empty\n"},
		{file + " --entry -1", cli.ExitUsage, "want a number of entries"},
		{file + " --entry 1 --json", cli.ExitUsage, "rnt: --json applies only to the list of sets"},
	} {
		stdout, stderr, status := tool.Try(append([]string{"attrs"}, strings.Split(test.args, " ")...)...)
		if stdout != "" || status != test.status || !strings.Contains(stderr, test.stderr) {
			t.Errorf("%s: status %d, %s%s", test.args, status, stdout, stderr)
		}
	}
}
