//go:build linux

// Package apiserver starts a real API server of Kubernetes, with etcd, for tests: on the loopback interface, with certificates and tokens of its
// own, and with the kinds of operators that kubetest knows. There is no kubelet, no controller and no operator: the status of pods and objects is
// what a test writes.
package apiserver

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/infra/kube/kubetest"
	"plimsoll/internal/poll"
)

// Folder is the variable that says in which folder kube-apiserver and etcd are. make kube sets it.
const Folder = "PLIMSOLL_KUBE"

// Definitions is the variable of a folder of CustomResourceDefinitions, PLURAL.yaml, that are installed instead of those of kubetest, which are
// cut down: for who has what the operators publish.
const Definitions = "PLIMSOLL_KUBE_DEFINITIONS"

// Server is an API server that runs until the test ends.
type Server struct {
	t      *testing.T
	folder string
	url    string
	log    *bytes.Buffer
	grants int
}

// The tokens of an administrator, who may do everything, and of Plimsoll, who may do what Grant says.
const (
	adminToken    = "administrator"
	plimsollToken = "plimsoll"
)

// Start starts a server, or skips the test where there is none.
func Start(t *testing.T) *Server {
	t.Helper()
	programs := os.Getenv(Folder)
	if programs == "" {
		t.Skip("needs a real API server: make kube")
	}
	s := &Server{t: t, folder: t.TempDir()}
	ports := freePorts(t, 3)
	etcd := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	peer := fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	s.url = fmt.Sprintf("https://127.0.0.1:%d", ports[2])
	s.write("tokens.csv", fmt.Sprintf("%s,admin,1,\"system:masters\"\n%s,plimsoll,2\n", adminToken, plimsollToken))
	s.write("accounts.pem", privateKey(t))
	s.run(filepath.Join(programs, "etcd"), "--data-dir="+filepath.Join(s.folder, "etcd"), "--listen-client-urls="+etcd, "--advertise-client-urls="+etcd,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer, "--log-level=error")
	s.log = s.run(filepath.Join(programs, "kube-apiserver"), "--etcd-servers="+etcd, "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", ports[2]),
		"--cert-dir="+s.folder, "--token-auth-file="+s.path("tokens.csv"), "--authorization-mode=RBAC", "--service-cluster-ip-range=10.0.0.0/24",
		"--service-account-issuer=https://plimsoll.test", "--service-account-key-file="+s.path("accounts.pem"), "--service-account-signing-key-file="+s.path("accounts.pem"),
		// Pods need no account, and a claim that is deleted is gone: no controller would take its finalizer away.
		"--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection")
	s.config("admin", adminToken)
	s.config("plimsoll", plimsollToken)
	s.ready()
	s.install()
	return s
}

func (s *Server) path(name string) string { return filepath.Join(s.folder, name) }

func (s *Server) write(name, text string) {
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// run starts a program that ends with the test, or with the process that runs it.
func (s *Server) run(program string, args ...string) *bytes.Buffer {
	s.t.Helper()
	said := &bytes.Buffer{}
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = said, said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if s.t.Failed() {
			s.t.Logf("%s: %s", filepath.Base(program), tail(said.String()))
		}
	})
	return said
}

// tail is the end of a long text.
func tail(text string) string { return text[max(0, len(text)-4000):] }

// config writes a kubeconfig of a user.
func (s *Server) config(user, token string) {
	s.write(user+".yaml", fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: %s, user: {token: %s}}]
contexts: [{name: test, context: {cluster: test, user: %s}}]
current-context: test
`, s.url, s.path("apiserver.crt"), user, token, user))
}

// Config is a kubeconfig with what was granted to Plimsoll.
func (s *Server) Config() string { return s.path("plimsoll.yaml") }

// ready waits until the server serves.
func (s *Server) ready() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 3*time.Minute)
	defer cancel()
	err := poll.Until(ctx, 200*time.Millisecond, func() (string, error) {
		out, err := s.kubectl(ctx, "admin", "", "get", "--raw", "/readyz")
		if err == nil {
			return "", nil
		}
		return out, nil //nolint:nilerr // it does not serve yet
	})
	if err != nil {
		s.t.Fatalf("%v: %s", err, tail(s.log.String()))
	}
}

// install makes the namespace db and the kinds of the operators.
func (s *Server) install() {
	s.t.Helper()
	s.Kubectl("create", "namespace", "db")
	for _, plural := range kubetest.Definitions() {
		definition := string(kubetest.Definition(plural))
		if folder := os.Getenv(Definitions); folder != "" {
			published, err := os.ReadFile(filepath.Join(folder, plural+".yaml"))
			if err != nil {
				s.t.Fatal(err)
			}
			definition = string(published)
		}
		s.Apply(definition)
	}
	s.Kubectl("wait", "--for=condition=established", "crd", "--all", "--timeout=60s")
}

// Apply creates objects that are written as YAML or JSON.
func (s *Server) Apply(text string) {
	s.t.Helper()
	if out, err := s.kubectl(s.t.Context(), "admin", text, "create", "-f", "-"); err != nil {
		s.t.Fatalf("kubectl create: %v: %s", err, out)
	}
}

// Kubectl is what the administrator's kubectl answers.
func (s *Server) Kubectl(args ...string) string {
	s.t.Helper()
	out, err := s.kubectl(s.t.Context(), "admin", "", args...)
	if err != nil {
		s.t.Fatalf("kubectl %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return out
}

// KubectlAs is what the kubectl of Plimsoll's user answers, and whether it succeeded.
func (s *Server) KubectlAs(args ...string) (string, error) {
	return s.kubectl(s.t.Context(), "plimsoll", "", args...)
}

func (s *Server) kubectl(ctx context.Context, user, stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "kubectl", append([]string{"--kubeconfig=" + s.path(user+".yaml"), "--cache-dir=" + s.path("cache-"+user)}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Grant allows Plimsoll, in the namespace db, the rules of a Role in YAML, a list, and what was granted before.
func (s *Server) Grant(rules string) {
	s.t.Helper()
	s.grants++
	role := fmt.Sprintf("plimsoll-%d", s.grants)
	s.Apply("apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: " + role + ", namespace: db}\nrules:\n" + rules)
	s.Kubectl("--namespace=db", "create", "rolebinding", role, "--role="+role, "--user=plimsoll")
}

func freePorts(t *testing.T, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func privateKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}))
}
