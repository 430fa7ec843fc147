// Package kube reaches what runs in Kubernetes by the person's own kubectl, run as a program: their kubeconfig, contexts, plugins for
// authentication and proxies decide how. Pods are machines, by the helper of infra/remote over kubectl exec; objects are read
// and replaced as the API has them.
package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"plimsoll/hint"
	"plimsoll/infra"
)

// Access says which Kubernetes is meant, in kubectl's words. The zero value is what kubectl takes by itself.
type Access struct {
	Config  string // a kubeconfig file instead of the person's own
	Context string
}

// patience is how long kubectl may take for one request, by itself and with what it asks for credentials.
const (
	requestTime = 30 * time.Second
	patience    = time.Minute
)

// Check refuses what kubectl would take for an option.
func (a Access) Check() error {
	for _, word := range []string{a.Config, a.Context} {
		if strings.HasPrefix(word, "-") || strings.ContainsAny(word, "\n\t") {
			return fmt.Errorf("%q, expected a name that kubectl accepts", word)
		}
	}
	return nil
}

// options are kubectl's.
func (a Access) options() (all []string) {
	if a.Config != "" {
		all = append(all, "--kubeconfig="+a.Config)
	}
	if a.Context != "" {
		all = append(all, "--context="+a.Context)
	}
	return all
}

// brief is how a person would begin to call kubectl for this.
func (a Access) brief() string { return strings.Join(append([]string{"kubectl"}, a.options()...), " ") }

// run runs kubectl to its end.
func (a Access) run(ctx context.Context, here infra.Machine, stdin []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer from Kubernetes within %v", patience))
	defer cancel()
	args = append(append(a.options(), "--request-timeout="+requestTime.String()), args...)
	out, err := here.Run(ctx, infra.Command{Path: "kubectl", Args: args, Stdin: stdin})
	if errors.Is(err, infra.ErrNoProgram) {
		return nil, noKubectl(err)
	}
	return out.Stdout, err
}

func noKubectl(err error) error {
	return hint.With(err, "Plimsoll reaches Kubernetes with your own kubectl: install it, or put it on your PATH")
}
