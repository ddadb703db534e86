package serve

import (
	"bytes"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestPagePanic makes sure that the server of the page answers after a panic, and logs the trace.
func TestPagePanic(t *testing.T) {
	var logged bytes.Buffer
	before := log.Writer()
	log.SetOutput(&logged)
	defer log.SetOutput(before)
	s := &pageServer{host: "here", page: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("broken") })}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, httptest.NewRequest("GET", "http://here/x", nil))
	if body := w.Body.String(); w.Code != http.StatusInternalServerError || body != "internal error in GET /x\n" ||
		!strings.Contains(logged.String(), "goroutine") {
		t.Errorf("status %d, %s, logged %s", w.Code, body, &logged)
	}
}
