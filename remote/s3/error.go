package s3

import (
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-rntuple/go-rntuple/remote"
)

// An answer is the error that S3 answers with.
type answer struct {
	status        int
	Code, Message string
	Region        string
	Size          *int64 `xml:"ActualObjectSize"`
}

func (a *answer) Error() string {
	switch {
	case a.Code == "":
		return fmt.Sprintf("the store says %d %s", a.status, http.StatusText(a.status))
	case a.Message == "":
		return "the store says " + a.Code
	}
	return fmt.Sprintf("the store says %s: %s", a.Code, a.Message)
}

// A wrongRegion is the error of a request that another region must be asked.
type wrongRegion struct {
	region string
	error
}

func (w *wrongRegion) Unwrap() error { return w.error }

// maxAnswer limits the length of an error in bytes.
const maxAnswer = 64 << 10

// failure returns the error of a response of status 300 or higher, to a request in a region.
func failure(resp *http.Response, region string) error {
	a := &answer{status: resp.StatusCode}
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err := xml.Unmarshal(text, a); err != nil {
		*a = answer{status: resp.StatusCode}
	}
	return a.failure(resp, region)
}

func (a *answer) failure(resp *http.Response, region string) error {
	a.Code = tidy(a.Code, resp.Request)
	a.Message = tidy(a.Message, resp.Request)
	for _, r := range []string{resp.Header.Get("X-Amz-Bucket-Region"), a.Region} {
		if isRegion(r) && r != region {
			return &wrongRegion{r, a.kind(resp)}
		}
	}
	return a.kind(resp)
}

// tidy returns a text of an answer without what is secret in the request.
func tidy(text string, r *http.Request) string {
	if r != nil {
		secrets := []string{r.Header.Get("X-Amz-Security-Token")}
		if _, signature, ok := strings.Cut(r.Header.Get("Authorization"), "Signature="); ok {
			secrets = append(secrets, signature)
		}
		for _, s := range secrets {
			if s != "" {
				text = strings.ReplaceAll(text, s, "…")
			}
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > 300 {
		text = strings.ToValidUTF8(text[:300], "") + "…"
	}
	return text
}

// Codes of errors that mean the same, beside those that their status tells.
var (
	missing   = []string{"NoSuchKey", "NoSuchBucket", "NoSuchUpload", "NoSuchVersion"}
	forbidden = []string{"AccessDenied", "AllAccessDisabled", "AuthorizationHeaderMalformed", "ExpiredToken",
		"InvalidAccessKeyId", "InvalidObjectState",
		"InvalidToken", "RequestTimeTooSkewed", "SignatureDoesNotMatch", "TokenRefreshRequired",
		"XAdminUserNotFound"} // of versitygw, with status 404
	passing = []string{"ConditionalRequestConflict", "InternalError", "OperationAborted", "RequestTimeout",
		"ServiceUnavailable", "SlowDown", "Throttling",
		"ThrottlingException", "TooManyRequests"}
)

// kind returns the error with what it means.
func (a *answer) kind(resp *http.Response) error {
	is := func(codes []string) bool { return slices.Contains(codes, a.Code) }
	switch {
	case is(missing), a.status == http.StatusNotFound && !is(forbidden):
		return fmt.Errorf("%w: %w", fs.ErrNotExist, a)
	case is(forbidden), a.status == http.StatusUnauthorized, a.status == http.StatusForbidden:
		return fmt.Errorf("%w: %w", fs.ErrPermission, a)
	case a.status == http.StatusPreconditionFailed:
		return remote.ErrChanged
	case is(passing), a.status == http.StatusTooManyRequests, a.status >= 500 && a.status != http.StatusNotImplemented:
		after, _ := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 16)
		return &remote.Temporary{Err: a, After: time.Duration(after) * time.Second}
	}
	return a
}
