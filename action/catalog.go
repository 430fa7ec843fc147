package action

import (
	"reflect"

	"plimsoll/internal/document"
)

// Generic lists the actions that need no engine.
func Generic() []Action {
	return []Action{commandAction, pauseAction, sqlAction, waitAction}
}

// Find returns an action by name.
func Find(all []Action, name string) (Action, bool) {
	for _, a := range all {
		if a.Name == name {
			return a, true
		}
	}
	return Action{}, false
}

// Names lists the actions' names.
func Names(all []Action) []string {
	names := make([]string, len(all))
	for i, a := range all {
		names[i] = a.Name
	}
	return names
}

// Bind returns a task with its inputs from a mapping, which may be nil.
func (a Action) Bind(with *document.Node) (Task, error) {
	t := a.New()
	if with == nil {
		with = &document.Node{Kind: document.Mapping}
	}
	if err := with.Decode(t); err != nil {
		return nil, err
	}
	if v, ok := t.(Validator); ok {
		if err := v.Validate(); err != nil {
			if with.Line == 0 { // it stands in no document: who asked knows the action
				return nil, document.Problems{with.Errorf("%v", err)}
			}
			return nil, document.Problems{with.Errorf("%s: %v", a.Name, err)}
		}
	}
	if a.Instead != nil {
		return a.Instead(t), nil
	}
	return t, nil
}

// Inputs lists the keys that the action takes.
func (a Action) Inputs() []string { return document.Keys(a.inputs()) }

// Input returns the type of one input.
func (a Action) Input(key string) (reflect.Type, bool) {
	for _, f := range document.Fields(a.inputs()) {
		if keyOf(f) == key {
			return f.Type, true
		}
	}
	return nil, false
}

// Explain says what an input is.
func (a Action) Explain(key string) string {
	for _, f := range document.Fields(a.inputs()) {
		if keyOf(f) == key {
			return f.Tag.Get("doc")
		}
	}
	return ""
}

func (a Action) inputs() reflect.Type { return reflect.TypeOf(a.New()).Elem() }
