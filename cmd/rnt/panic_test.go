package main

import (
	"bytes"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestPanic makes sure that a panic is an error of the command, without a trace unless it is wanted.
func TestPanic(t *testing.T) {
	for _, setting := range []string{"", "all"} {
		t.Setenv("GOTRACEBACK", setting)
		var stderr strings.Builder
		tool := newTool(nil, &stderr, &stderr)
		root := &cobra.Command{Use: "rnt", SilenceErrors: true, SilenceUsage: true, PersistentPreRunE: tool.begin}
		root.AddCommand(&cobra.Command{Use: "fail", Run: func(*cobra.Command, []string) { panic("broken\ngoroutine 1") }})
		root.SetArgs([]string{"fail"})
		cmd, err := tool.execute(t.Context(), root)
		status := tool.exit(t.Context(), cmd, err)
		if text := stderr.String(); status != exitError || !strings.Contains(text, `internal error in "rnt fail": broken;`) || strings.Contains(text, "goroutine") != (setting != "") {
			t.Errorf("status %d, %s", status, text)
		}
	}
}

// TestPagePanic does so for the server of the page, which logs the trace.
func TestPagePanic(t *testing.T) {
	var logged bytes.Buffer
	before := log.Writer()
	log.SetOutput(&logged)
	defer log.SetOutput(before)
	s := &pageServer{host: "here", page: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") })}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "http://here/x", nil))
	if body := w.Body.String(); w.Code != http.StatusInternalServerError || body != "internal error in GET /x\n" || !strings.Contains(logged.String(), "goroutine") {
		t.Errorf("status %d, %s, logged %s", w.Code, body, &logged)
	}
}
