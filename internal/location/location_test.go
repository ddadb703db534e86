package location

import "testing"

func TestString(t *testing.T) {
	for name, want := range map[string]string{
		"https://example.org/a/b.root":                        "https://example.org/a/b.root",
		"https://example.org":                                 "https://example.org",
		"https://example.org/":                                "https://example.org/",
		"https://example.org/a b.root":                        "https://example.org/a b.root",
		"https://example.org/a@b.root":                        "https://example.org/a@b.root",
		"https://user@example.org:8443/a.root":                "https://example.org:8443/a.root",
		"https://user:secret@example.org/a.root":              "https://example.org/a.root",
		"https://user:se@cret@example.org/a.root":             "https://example.org/a.root",
		"https://example.org/a.root?X-Amz-Signature=secret":   "https://example.org/a.root?…",
		"https://example.org/a.root?":                         "https://example.org/a.root",
		"https://example.org/a.root#secret":                   "https://example.org/a.root",
		"https://example.org/a.root?secret#secret":            "https://example.org/a.root?…",
		"https://example.org?secret":                          "https://example.org?…",
		"root://user@host:1094//eos/a.root?authz=secret":      "root://host:1094//eos/a.root?…",
		"s3://bucket/key with space/ü.root":                   "s3://bucket/key with space/ü.root",
		"https://user:sec/ret@example.org/a.root":             "https://example.org/a.root",
		"https://user:sec?ret@example.org/a.root?token":       "https://example.org/a.root?…",
		"https://user:sec#ret@example.org/a.root":             "https://example.org/a.root",
		"https://user:secret%zz@example.org/a.root?secret":    "https://example.org/a.root?…",
		"https://user:secret@exam ple.org/a.root?secret%zz@b": "https://b",
		"/data/run#3?.root":                                   "/data/run#3?.root",
		"a@b/run#3.root":                                      "a@b/run#3.root",
		`C:\data\a#b.root`:                                    `C:\data\a#b.root`,
	} {
		if got := Parse(name).String(); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}

func TestIsURL(t *testing.T) {
	for name, want := range map[string]bool{
		"https://a/b": true, "HTTPS://a": true, "s3://b": true, "ntpl+s3+https://h/b": true, "root://h//p": true,
		"": false, "a.root": false, "/a/b": false, "://a": false, "a://b": false, `C:\a`: false, "3s://a": false,
		"./x://y": false, "dir/http://x": false, "http:/a": false,
	} {
		if got := Parse(name).IsURL(); got != want {
			t.Errorf("%q is a URL: %t", name, got)
		}
	}
}
