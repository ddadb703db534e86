package test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

const (
	dist     = "../dist"
	testdata = "../../testdata"
	// patience is how long the page may take for anything: no test fails because the machine is
	// slow.
	patience = 5 * time.Minute
)

var (
	browser   context.Context // nil if there is none
	site      *httptest.Server
	strangers strays
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	if _, err := os.Stat(filepath.Join(dist, "index.html")); err != nil {
		fmt.Fprintln(os.Stderr, "there is no page: run go generate ./viewer")
		return 1
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(dist)))
	mux.Handle("/data/", http.StripPrefix("/data/", http.FileServer(http.Dir(testdata))))
	site = httptest.NewServer(mux)
	defer site.Close()
	outside := httptest.NewServer(&strangers)
	defer outside.Close()

	path, err := chromium()
	if err != nil {
		fmt.Println("skipped:", err)
		return 0
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.DisableGPU,
		chromedp.ProxyServer(outside.URL), // what does not go to this machine goes there
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	ctx, end := chromedp.NewContext(allocator)
	defer end()
	if err := chromedp.Do(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "Chromium does not start:", err)
		return 1
	}
	browser = ctx
	return m.Run()
}

func chromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("there is no Chromium")
}

// strays are the hosts on other machines that something asked for.
type strays struct {
	mu    sync.Mutex
	hosts []string
}

// ofBrowser matches the hosts that the browser itself asks for, page or no page.
var ofBrowser = regexp.MustCompile(`(^|\.)(google|googleapis|gstatic|gvt1|googleusercontent)\.com(:|$)`)

func (s *strays) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !ofBrowser.MatchString(r.Host) {
		s.mu.Lock()
		s.hosts = append(s.hosts, r.Method+" "+r.Host)
		s.mu.Unlock()
	}
	http.Error(w, "there is no outside", http.StatusBadGateway)
}

// A tab shows the page.
type tab struct {
	*testing.T
	ctx context.Context

	mu       sync.Mutex
	messages []string // of the console, that should not be there
}

// newTab opens a tab of a size in pixels at an address below that of the site. When the test ends,
// no rule of the content security policy may have been broken, nothing thrown, and no other host
// asked.
func newTab(t *testing.T, width, height int64, address string) *tab {
	t.Helper()
	ctx, end := chromedp.NewContext(browser)
	p := &tab{T: t, ctx: ctx}
	if err := chromedp.Do(ctx); err != nil { // the tab lives as long as the context of what is first run in it
		t.Fatal(err)
	}
	p.do(chromedp.EmulateViewport(width, height))
	listening := make(chan struct{})
	messages := chromedp.Console(ctx)
	go func() {
		defer close(listening)
		for m, err := range messages {
			if err != nil {
				return
			}
			if m.IsException() || m.Type == chromedp.ConsoleError && !strings.Contains(m.Text, "Failed to load resource") &&
				!strings.Contains(m.Text, "CORS policy") ||
				strings.Contains(m.Text, "Content Security Policy") {
				p.mu.Lock()
				p.messages = append(p.messages, m.String())
				p.mu.Unlock()
			}
		}
	}()
	t.Cleanup(func() {
		end()
		<-listening
		for _, m := range p.messages {
			t.Errorf("the console says: %s", m)
		}
		strangers.mu.Lock()
		defer strangers.mu.Unlock()
		for _, host := range strangers.hosts {
			t.Errorf("something asked another host: %s", host)
		}
		strangers.hosts = nil
	})
	p.goTo(address)
	return p
}

// goTo loads an address below that of the site.
func (p *tab) goTo(address string) {
	p.Helper()
	p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(site.URL+"/"+address))
	p.wait(`document.documentElement.dataset.ready`)
}

func (p *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.Fatal(err)
	}
}

// eval evaluates an expression of JavaScript, or awaits it. Each %s in it stands for an argument as
// JSON.
func eval[T any](p *tab, expression string, args ...any) T {
	p.Helper()
	if len(args) > 0 {
		texts := make([]any, len(args))
		for i, arg := range args {
			text, err := json.Marshal(arg)
			if err != nil {
				p.Fatal(err)
			}
			texts[i] = string(text)
		}
		expression = fmt.Sprintf(expression, texts...)
	}
	ctx, stop := context.WithTimeout(p.ctx, patience)
	defer stop()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return v
}

// wait waits until an expression, or what it promises, is true.
func (p *tab) wait(expression string, args ...any) {
	p.Helper()
	for end := time.Now().Add(patience); !eval[bool](p, "(async () => !!(await ("+expression+")))()",
		args...); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			p.Fatalf("waited in vain for %s; the page shows:\n%s", fmt.Sprint(expression, args),
				eval[string](p, `document.body.innerText`))
		}
	}
}

// open chooses a file, and reports whether the page could open it.
func (p *tab) open(path string) bool {
	p.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		p.Fatal(err)
	}
	eval[bool](p, `document.documentElement.dataset.ready = "", true`)
	p.do(chromedp.SetUploadFiles(chromedp.CSS(`input[type=file]`), []string{path}))
	p.wait(`document.documentElement.dataset.ready`)
	return eval[string](p, `document.documentElement.dataset.ready`) == "open"
}

// show changes the part of the address behind the number sign: pairs of names and values, beside
// the file.
func (p *tab) show(pairs ...string) {
	p.Helper()
	eval[bool](p, `(() => {
		const old = new URLSearchParams(location.hash.slice(1)), next = new URLSearchParams();
		for (const name of ["url", "file"]) if (old.get(name)) next.set(name, old.get(name));
		const pairs = %s;
		for (let i = 0; i < pairs.length; i += 2) if (pairs[i + 1] !== "") next.set(pairs[i], pairs[i + 1]);
		location.hash = next;
		return true;
	})()`, pairs)
}

// theme chooses Auto, Light or Dark.
func (p *tab) theme(name string) {
	p.Helper()
	eval[bool](p, `(() => { const b = document.querySelector(".theme"); while (b.textContent !== %s) b.click(); return true; })()`, name)
}

// text returns what an element shows.
func (p *tab) text(selector string) string {
	p.Helper()
	return eval[string](p, `document.querySelector(%s)?.textContent ?? ""`, selector)
}

// press presses keys, of package kb where they are no characters.
func (p *tab) press(keys string, options ...chromedp.KeyOption) {
	p.Helper()
	p.do(chromedp.KeyEvent(keys, options...))
}

func (p *tab) click(selector string) {
	p.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector)))
}
