package execute

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/durable"
	"plimsoll/runbook"
	"plimsoll/runbook/journal"
)

// fullBook fills the disk under the journal in the middle of an act.
const fullBook = `
runbook: test/full
steps:
  - {id: before, uses: command, with: {run: "echo before >> DIR/log", check: "grep -q before DIR/log 2>/dev/null || exit 1"}}
  - {id: fill, uses: command, with: {run: "dd if=/dev/zero of=STATE/filler bs=4k 2>/dev/null; echo fill >> DIR/log", check: "grep -q fill DIR/log 2>/dev/null || exit 1"}}
  - {id: after, uses: command, with: {run: "echo after >> DIR/log", check: "grep -q after DIR/log 2>/dev/null || exit 1"}}
`

// TestAFullDiskUnderTheJournal runs on a file system of its own, which a mount namespace takes away again.
func TestAFullDiskUnderTheJournal(t *testing.T) {
	t.Parallel()
	folder, state := t.TempDir(), t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "RUNBOOK_FULL="+state, "RUNBOOK_FOLDER="+folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == cannotMount:
		t.Skipf("a small file system cannot be mounted here: %s", out)
	case err != nil && exit == nil:
		t.Skipf("a mount namespace cannot be made here: %v", err)
	case err != nil:
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%s", out)
}

const cannotMount = 9

// fullDisk is the child: what it returns is what is wrong.
func fullDisk(state string) error {
	if err := errors.Join(syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""), syscall.Mount("tmpfs", state, "tmpfs", 0, "size=4m")); err != nil {
		fmt.Println(err)
		os.Exit(cannotMount)
	}
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	folder := os.Getenv("RUNBOOK_FOLDER")
	began := time.Now()
	run, err := fill(ctx, state, folder)
	if err == nil {
		return errors.New("nothing went wrong on a full disk")
	}
	fmt.Printf("after %s: %v\n", time.Since(began).Round(time.Millisecond), err)
	var advice interface{ Hint() string }
	for _, part := range []string{"write the journal", "disk is full", "step fill was acting"} {
		if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "DBOS") {
			return fmt.Errorf("the error is not one clear line with %s: %w", part, err)
		}
	}
	if !errors.As(err, &advice) || !strings.Contains(advice.Hint(), state) {
		return fmt.Errorf("the error does not say where to make room: %w", err)
	}
	if err := os.Remove(filepath.Join(state, "filler")); err != nil {
		return err
	}
	store, err := durable.Open(ctx, durable.Options{Folder: state, Version: journal.Interpreter})
	if err != nil {
		return err
	}
	s := newService(store)
	e, err := s.Execute(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("continued %v\n", e.Continued())
	if len(e.Continued()) == 0 {
		if err := s.Start(ctx, e, run, journal.Command{Do: "resume"}); err != nil {
			return err
		}
	}
	if err := errors.Join(e.Wait(ctx, run), e.Close(ctx)); err != nil {
		return err
	}
	st, err := s.State(ctx, run)
	if err != nil {
		return err
	}
	log, err := os.ReadFile(filepath.Join(folder, "log"))
	if st.Outcome != journal.RunDone || string(log) != "before\nfill\nafter\n" {
		return fmt.Errorf("outcome %q, log %q, %w", st.Outcome, log, err)
	}
	return store.Close()
}

// fill runs until the journal cannot be written.
func fill(ctx context.Context, state, folder string) (run string, err error) {
	store, err := durable.Open(ctx, durable.Options{Folder: state, Version: journal.Interpreter})
	if err != nil {
		return "", err
	}
	s := newService(store)
	book, err := runbook.Parse("full.yaml", []byte(strings.NewReplacer("DIR", folder, "STATE", state).Replace(fullBook)), s.Actions)
	if err != nil {
		return "", err
	}
	p, err := s.Prepare(ctx, Request{Book: book, Cluster: "lab1"})
	if err != nil {
		return "", err
	}
	if run, err = s.Begin(ctx, p); err != nil {
		return "", err
	}
	e, err := s.Execute(ctx)
	if err != nil {
		return "", err
	}
	if err := s.Start(ctx, e, run, journal.Command{Do: "run"}); err != nil {
		return run, err
	}
	err = e.Wait(ctx, run)
	if closeErr := e.Close(ctx); closeErr != nil {
		fmt.Println("close:", closeErr)
	}
	_ = store.Close() // what it could not write is what this is about
	return run, err
}
