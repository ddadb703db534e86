package s3

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/smithy-go/logging"
)

// settings are what environment and files say about stores and users.
type settings struct {
	region   string
	endpoint *url.URL // nil: Amazon's
	provider aws.CredentialsProvider
	signer   *v4.Signer // remembers what it has derived from a key, and does not notice another secret

	mu   sync.Mutex
	none bool // there are no credentials
}

// loaded has the settings for environments.
var loaded = struct {
	sync.Mutex
	all map[string]*settings
}{all: map[string]*settings{}}

// load returns the settings for the present environment.
func load() (*settings, error) {
	var env []string
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "AWS_") || strings.HasPrefix(v, "HOME=") {
			env = append(env, v)
		}
	}
	slices.Sort(env)
	key := strings.Join(env, "\x00")
	loaded.Lock()
	defer loaded.Unlock()
	if s := loaded.all[key]; s != nil {
		return s, nil
	}
	s, err := newSettings()
	if err == nil {
		loaded.all[key] = s
	}
	return s, err
}

func newSettings() (*settings, error) {
	ctx := context.Background()                                               // files are read, but nobody is asked
	c, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{})) // which would print to standard error
	if err != nil {
		return nil, err
	}
	s := &settings{region: c.Region, provider: c.Credentials, signer: v4.NewSigner(),
		none: yes(os.Getenv("AWS_NO_SIGN_REQUEST"))}
	if s.region == "" {
		s.region = "us-east-1"
	}
	if !isRegion(s.region) {
		return nil, fmt.Errorf("%q is not the name of a region", s.region)
	}
	text, err := endpoint(ctx, c)
	if err != nil || text == "" {
		return s, err
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.User != nil {
		return nil, errors.New("the endpoint is not the URL of a store, as https://host:port")
	}
	port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]
	s.endpoint = &url.URL{Scheme: u.Scheme, Host: strings.TrimSuffix(u.Host, port), Path: strings.TrimSuffix(u.Path, "/")}
	return s, nil
}

func yes(text string) bool {
	return slices.Contains([]string{"1", "true", "yes"}, strings.ToLower(text))
}

// isRegion reports whether a name can be that of a region, and be part of a host's name.
func isRegion(name string) bool {
	return name != "" && len(name) < 64 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// endpoint returns the URL of the store: that for S3 alone before that for all services.
func endpoint(ctx context.Context, c aws.Config) (string, error) {
	if ignore, found, err := config.GetIgnoreConfiguredEndpoints(ctx, c.ConfigSources); err != nil || found && ignore {
		return "", err
	}
	for _, from := range c.ConfigSources {
		if p, ok := from.(interface {
			GetServiceBaseEndpoint(ctx context.Context, service string) (string, bool, error)
		}); ok {
			if text, found, err := p.GetServiceBaseEndpoint(ctx, "S3"); err != nil || found {
				return text, err
			}
		}
	}
	return aws.ToString(c.BaseEndpoint), nil
}

// metadataTime is how long the service may take that gives credentials to Amazon's machines, and
// that no other machine has. Tests change it.
var metadataTime = time.Second

// credentials returns the credentials, or ok false if there are none.
func (s *settings) credentials(ctx context.Context) (c aws.Credentials, ok bool, err error) {
	s.mu.Lock()
	none := s.none
	s.mu.Unlock()
	if none {
		return c, false, nil
	}
	last := aws.IsCredentialsProvider(s.provider, (*ec2rolecreds.Provider)(nil)) // nothing else is configured
	limited := ctx
	if last {
		var cancel context.CancelFunc
		limited, cancel = context.WithTimeout(ctx, metadataTime)
		defer cancel()
	}
	c, err = s.provider.Retrieve(limited)
	switch {
	case err == nil:
		return c, true, nil
	case ctx.Err() != nil:
		return c, false, ctx.Err()
	case last:
		s.mu.Lock()
		s.none = true
		s.mu.Unlock()
		return c, false, nil
	}
	return c, false, fmt.Errorf("the credentials: %w", err)
}
