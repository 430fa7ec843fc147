package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// server is one server as the database's own client reaches it, which stays connected.
type server struct {
	name, address, user, password string
	port                          int
	database                      string

	mu      sync.Mutex
	cmd     *exec.Cmd
	in      io.WriteCloser
	answers chan string
	errs    *lines
	asked   int
}

// ask sends a statement and returns what the client prints for it. Any error ends the connection; the next question makes another.
func (s *server) ask(within time.Duration, sql string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		if err := s.connect(); err != nil {
			return "", err
		}
	}
	s.asked++
	end := fmt.Sprintf("end of answer %d", s.asked)
	if _, err := fmt.Fprintf(s.in, "%s;\nSELECT '%s';\n", sql, end); err != nil {
		return "", s.lose(err)
	}
	var all []string
	late := time.NewTimer(within)
	defer late.Stop()
	for {
		select {
		case l, ok := <-s.answers:
			switch {
			case !ok:
				return "", s.lose(errors.New("the connection ended"))
			case l == end:
				return strings.Join(all, "\n"), nil
			}
			all = append(all, l)
		case <-late.C:
			return "", s.lose(fmt.Errorf("no answer within %s", within))
		}
	}
}

func (s *server) connect() error {
	s.cmd = exec.Command("mariadb", "--no-defaults", "-h", s.address, "-P", itoa(s.port), "-u", s.user, "--protocol=tcp", "--connect-timeout=2",
		"--plugin-dir=/usr/lib/x86_64-linux-gnu/libmariadb3/plugin", "-N", "-B", "--unbuffered", "--skip-reconnect", s.database)
	s.cmd.Env = append(s.cmd.Environ(), "MYSQL_PWD="+s.password)
	s.errs = &lines{}
	s.cmd.Stderr = s.errs
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		s.cmd = nil
		return err
	}
	answers := make(chan string, 64)
	s.in, s.answers = in, answers
	go func() {
		defer close(answers)
		scan := bufio.NewScanner(out)
		scan.Buffer(nil, 16<<20)
		for scan.Scan() {
			answers <- scan.Text()
		}
	}()
	return nil
}

// lose ends the client, and adds what it said.
func (s *server) lose(err error) error {
	_ = s.in.Close()
	_ = s.cmd.Process.Kill()
	answers := s.answers
	go func() { // so that the reader ends
		for range answers {
		}
	}()
	_ = s.cmd.Wait()
	s.cmd = nil
	if told := strings.TrimSpace(s.errs.String()); told != "" {
		return fmt.Errorf("%s: %s", s.name, told)
	}
	return fmt.Errorf("%s: %w", s.name, err)
}

func (s *server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd != nil {
		_ = s.lose(io.EOF)
	}
}
