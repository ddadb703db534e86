package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// What a limit refuses, --max-memory lets through, and the message says so.
func TestMaxMemory(t *testing.T) {
	const n = 1 << 20
	line := `{"v":[` + strings.Repeat("7,", n-1) + `7],"s":"` + strings.Repeat("ab", n*4) + `"}` + "\n"
	path := made(t, "big", `{"name": "v", "type": "std::vector<double>"}, {"name": "s", "type": "std::string"}`, line)
	_, problem := fed(t, exitError, "", "cat", path)
	for _, part := range []string{path, "entry 0", " (EntryBytes; --max-memory raises it)\n"} {
		if !strings.Contains(problem, part) {
			t.Errorf("%q does not say %q", problem, part)
		}
	}
	compare(t, rnt(t, "cat", "--max-memory", "64M", path), line)
	out := filepath.Join(t.TempDir(), "out.root")
	for args, status := range map[string]int{
		"cat IN": 1, "head IN": 1, "schema IN": 1, "stat IN": 1, "attrs IN": 1, "diff IN IN": 2, "merge OUT IN": 1,
		"merge --all OUT IN":        1,
		"merge --into IN " + dimuon: 1, "append IN " + dimuon: 1, "append IN -": 1, "slim --fields v OUT IN": 1,
		"skim --where len(v)>0 OUT IN": 1,
		"concat OUT IN":                1, "split --entries 1 OUT IN": 1, "hmerge OUT IN": 1,
		"repack OUT IN": 1, "rename --to n IN": 1,
		"index IN": 1, "rename --to n --out OUT IN": 1,
		"ls IN": 3, "verify IN": 1, "dump IN": 1, "recover OUT IN": 1, "plan OUT IN": 1,
	} {
		all := strings.NewReplacer("IN", path, "OUT", out)
		fields := strings.Fields(args)
		for i := range fields {
			fields[i] = all.Replace(fields[i])
		}
		stdout, problem := fed(t, status, "", append(fields, "--max-memory", "150")...)
		if text := stdout + problem; fields[0] != "recover" &&
			!strings.Contains(text, "(EnvelopeBytes; --max-memory raises it)") || strings.Contains(text, "rntuple.") {
			t.Errorf("%s: %s", args, text)
		}
	}
}

// What create makes, cat reads; or create warns, and cat reads with the --max-memory that
// it recommends, though not with a quarter of it.
func TestWarnNeeds(t *testing.T) {
	const n = 600_000
	list := func(item string, n int) string { return "[" + strings.Repeat(item+",", n-1) + item + "]" }
	recommended := regexp.MustCompile(`^rnt: warning: .*out\.root: .* requires --max-memory (\d+)M\n$`)
	for _, c := range []struct {
		of, value string
		warns     bool
	}{
		{"double", "1", false},
		{"std::vector<double>", list("1", 1000), false},
		{"std::vector<double>", list("1", n), true},
		{"std::vector<bool>", list("true", n), true},
		{"std::string", `"` + strings.Repeat("x", 8*n) + `"`, false},
		{"std::string", `"` + strings.Repeat("x", 32*n) + `"`, true},
		{"std::vector<std::string>", list(`"abcdefgh"`, n), true},
		{"std::vector<std::vector<std::int8_t>>", list(list("1", 100), n/100), true},
		{"std::map<std::int32_t,std::optional<float>>", list("[1,null]", n), true},
		{"std::vector<std::pair<float,std::string>>", list(`[1,"x"]`, n), true},
		{"std::vector<std::variant<float,std::string>>", list("null", n), true},
		{"std::optional<std::array<std::int16_t,600000>>", list("1", n), true},
		{"std::bitset<9000000>", `"` + strings.Repeat("0", 9_000_000) + `"`, true},
	} {
		dir := t.TempDir()
		document, out := filepath.Join(dir, "schema.json"), filepath.Join(dir, "out.root")
		if err := os.WriteFile(document, fmt.Appendf(nil, `{"name": "n", "fields": [{"name": "x", "type": %q}]}`, c.of),
			0o644); err != nil {
			t.Fatal(err)
		}
		line := `{"x":` + c.value + "}\n"
		_, warning := fed(t, exitOK, line, "create", "--schema", document, out)
		m := recommended.FindStringSubmatch(warning)
		lines := filepath.Join(dir, "x.jsonl")
		write(t, lines, line)
		if _, also := fed(t, exitOK, "", "convert", "--force", "--schema", document, lines, out); also != warning {
			t.Errorf("%s: create warns %q, and convert %q", c.of, warning, also)
		}
		if (m != nil) != c.warns || m == nil && warning != "" {
			t.Errorf("%s: %q", c.of, warning)
		}
		if m == nil {
			if rnt(t, "cat", out) != line {
				t.Errorf("%s: other values", c.of)
			}
			continue
		}
		mega, _ := strconv.Atoi(m[1])
		if rnt(t, "cat", "--max-memory", m[1]+"M", out) != line {
			t.Errorf("%s: other values", c.of)
		}
		for _, less := range [][]string{{"cat", out}, {"cat", out, "--max-memory", fmt.Sprintf("%dk", mega<<8)}} {
			if _, problem := fed(t, exitError, "", less...); !strings.Contains(problem, "EntryBytes") {
				t.Errorf("%s: %v: %s", c.of, less, problem)
			}
		}
	}
}
