package kubetest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"plimsoll/infra"
	"plimsoll/infra/kube"
)

// Machine is a machine whose kubectl is a stand-in that works this cluster, without a process and without a network.
func (c *Cluster) Machine(here infra.Machine) infra.Machine { return &machine{here, c} }

type machine struct {
	infra.Machine
	c *Cluster
}

var _ infra.Conversing = &machine{}

// Run runs kubectl as the stand-in, and everything else.
func (m *machine) Run(ctx context.Context, command infra.Command) (infra.Output, error) {
	if command.Path != "kubectl" {
		return m.Machine.Run(ctx, command)
	}
	words := slices.DeleteFunc(slices.Clone(command.Args), func(w string) bool { return strings.HasPrefix(w, "--") && w != "--raw" })
	verb := map[string]string{"get": http.MethodGet, "replace": http.MethodPut, "create": http.MethodPost}
	if len(words) < 3 || words[1] != "--raw" || verb[words[0]] == "" {
		return infra.Output{}, said("error: the stand-in of kubectl does not know " + strings.Join(words, " "))
	}
	if (words[0] != "get") != (len(words) == 5 && words[3] == "-f" && words[4] == "-") {
		return infra.Output{}, said("error: -f - is what a write is read from")
	}
	at, err := url.Parse(words[2])
	if err != nil {
		return infra.Output{}, said("error: " + err.Error())
	}
	status, answer := m.c.answer(verb[words[0]], at, command.Stdin)
	if status == 0 {
		return infra.Output{}, said("Unable to connect to the server: EOF")
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return infra.Output{}, err
	}
	if status >= http.StatusBadRequest {
		var why kube.Object
		if err := json.Unmarshal(body, &why); err != nil {
			return infra.Output{}, err
		}
		return infra.Output{}, said(fmt.Sprintf("Error from server (%s): %s", why.Text(kube.Path{"reason"}), why.Text(kube.Path{"message"})))
	}
	return infra.Output{Stdout: body}, nil
}

func said(words string) error { return &infra.ExitError{Command: "kubectl", Status: 1, Stderr: words} }

// Talk is kubectl exec as the stand-in, and everything else.
func (m *machine) Talk(ctx context.Context, command infra.Command) (infra.Channel, error) {
	if command.Path != "kubectl" {
		return m.Machine.(infra.Conversing).Talk(ctx, command)
	}
	before, run := command.Args, []string(nil)
	if i := slices.Index(command.Args, "--"); i >= 0 {
		before, run = command.Args[:i], command.Args[i+1:]
	}
	namespace, container, words := "", "", []string{}
	for _, w := range before {
		switch option, value, _ := strings.Cut(w, "="); {
		case option == "--namespace":
			namespace = value
		case option == "--container":
			container = value
		case !strings.HasPrefix(w, "--"):
			words = append(words, w)
		}
	}
	failed := func(words string) (infra.Channel, error) { return ended{said(words)}, nil }
	if len(words) != 2 || words[0] != "exec" || len(run) == 0 || !slices.Contains(before, "--stdin") {
		return failed("error: the stand-in of kubectl does not know " + strings.Join(command.Args, " "))
	}
	if container != "" && container != "main" {
		return failed("Error from server (BadRequest): container " + container + " is not valid for pod " + words[1])
	}
	l, err := m.c.start(namespace, words[1], run)
	if err != nil {
		return failed("error: " + err.Error())
	}
	return m.c.talk(ctx, l, func(status int, stderr string) error {
		if status == 0 {
			return nil
		}
		return &infra.ExitError{Command: "kubectl", Status: status, Stderr: strings.TrimSpace(stderr)}
	}), nil
}

// ended is a kubectl that ended at once.
type ended struct{ err error }

func (e ended) Read([]byte) (int, error)    { return 0, io.EOF }
func (e ended) Write(p []byte) (int, error) { return len(p), nil }
func (e ended) Close() error                { return e.err }
