package store

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"plimsoll/internal/document"
)

// Group is rules that are evaluated one after another.
type Group struct {
	Name     string        `json:"name"`
	File     string        `json:"file"`
	Interval time.Duration `json:"interval"` // 0: as the others
	Rules    []Rule        `json:"rules"`
}

// Rule is one rule of a file in Prometheus' format: an alert, or a series that is recorded.
type Rule struct {
	Alert       string            `json:"alert,omitempty"`
	Record      string            `json:"record,omitempty"`
	Expr        string            `json:"expr"`
	For         time.Duration     `json:"for,omitempty"`
	KeepFiring  time.Duration     `json:"keep_firing_for,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// ParseRules reads a file of rules. Everything that is wrong with it is told, with its places.
func ParseRules(file string, text []byte) ([]Group, error) {
	if _, err := document.Parse(file, text); err != nil { // what Prometheus reads has no bounds of depth and size
		return nil, err
	}
	read, errs := rulefmt.Parse(text, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		return nil, fmt.Errorf("rules in %s: %w", file, errors.Join(errs...))
	}
	var all []Group
	for _, g := range read.Groups {
		group := Group{Name: g.Name, File: file, Interval: time.Duration(g.Interval)}
		for _, r := range g.Rules {
			rule := Rule{
				Alert: r.Alert, Record: r.Record, Expr: r.Expr, For: time.Duration(r.For), KeepFiring: time.Duration(r.KeepFiringFor),
				Labels: map[string]string{}, Annotations: r.Annotations,
			}
			for _, from := range []map[string]string{g.Labels, r.Labels} {
				for name, value := range from {
					rule.Labels[name] = value
				}
			}
			group.Rules = append(group.Rules, rule)
		}
		all = append(all, group)
	}
	return all, nil
}
