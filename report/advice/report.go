package advice

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"plimsoll/advise"
	"plimsoll/report/quantity"
)

// Text writes advice for a terminal of a width.
func Text(r *advise.Report, width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", title(r))
	for i, f := range r.Findings {
		fmt.Fprintf(&b, "\n%d. %s\n", i+1, fold(urgent(f)+f.Title, width-3))
		for _, e := range f.Evidence {
			b.WriteString(indented(fold("· "+e, width-3)))
		}
		b.WriteByte('\n')
		b.WriteString(indented(options(f).text()))
		for _, s := range risks(f) {
			b.WriteString(indented(fold(s, width-3)))
		}
		if s := commands(f); s != "" {
			b.WriteString("\n" + indented(s))
		}
	}
	b.WriteByte('\n')
	for _, s := range remarks(r) {
		b.WriteString(fold(s, width))
	}
	return b.String()
}

// Markdown writes advice for a ticket.
func Markdown(r *advise.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", title(r))
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "\n## %s%s\n\n", urgent(f), f.Title)
		for _, e := range f.Evidence {
			fmt.Fprintf(&b, "- %s\n", e)
		}
		fmt.Fprintf(&b, "\n%s\n", options(f).markdown())
		for _, s := range risks(f) {
			fmt.Fprintf(&b, "- %s\n", s)
		}
		for _, o := range f.Options {
			for _, c := range commandsOf(o) {
				fmt.Fprintf(&b, "- %s, %s: `%s`\n", o.Name, c.what, c.command)
			}
		}
	}
	b.WriteByte('\n')
	for _, s := range remarks(r) {
		fmt.Fprintf(&b, "- %s\n", s)
	}
	if r.Memory != nil {
		b.WriteString("\n" + MemoryMarkdown(r.Memory))
	}
	return b.String()
}

func title(r *advise.Report) string {
	node := ""
	if r.Node != "" {
		node = ", node " + r.Node
	}
	return fmt.Sprintf("Advice for %s%s, %s", r.Cluster, node, r.At.UTC().Format("2006-01-02 15:04 MST"))
}

func urgent(f advise.Finding) string {
	if f.Urgent {
		return "Urgent: "
	}
	return ""
}

func indented(text string) string {
	return "   " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n   ") + "\n"
}

// risks says why a figure is of low confidence, and what each option risks and how it is undone, once for those of which the same is true.
func risks(f advise.Finding) []string {
	var told, risked saying
	for _, o := range f.Options {
		for _, e := range o.Effects {
			switch {
			case e.Note == "":
			case e.Low == e.High:
				told.say(o.Name, e.What+": "+e.Note+".")
			default:
				told.say(o.Name, e.What+": low confidence, because "+e.Note+".")
			}
		}
		risked.say(o.Name, o.Risk+". Undo: "+o.Undo+".")
	}
	return append(told.all(), risked.all()...)
}

// saying are sentences, each with the names of which it is true.
type saying struct {
	names map[string][]string
	order []string
}

func (s *saying) say(name, sentence string) {
	if s.names == nil {
		s.names = map[string][]string{}
	}
	if s.names[sentence] == nil {
		s.order = append(s.order, sentence)
	}
	s.names[sentence] = append(s.names[sentence], name)
}

func (s *saying) all() (out []string) {
	for _, sentence := range s.order {
		out = append(out, strings.Join(s.names[sentence], "; ")+": "+sentence)
	}
	return out
}

type labelled struct{ what, command string }

// commandsOf are what an option names to try it and to make it.
func commandsOf(o advise.Option) (all []labelled) {
	if o.Rehearse != "" {
		all = append(all, labelled{"rehearse", o.Rehearse})
	}
	if o.Copy != "" {
		all = append(all, labelled{"plan a copy to try it on, which is paid for", o.Copy})
	}
	if o.Do != "" {
		what := "plan"
		if o.AtOnce {
			what = "do"
		}
		all = append(all, labelled{what, o.Do})
	}
	return all
}

// commands lists them by option, once for options that have the same.
func commands(f advise.Finding) string {
	var s saying
	for _, o := range f.Options {
		text := ""
		for _, c := range commandsOf(o) {
			text += fmt.Sprintf("  %-9s %s\n", c.what+":", c.command)
		}
		if text != "" {
			s.say(o.Name, text)
		}
	}
	var b strings.Builder
	for _, text := range s.order {
		b.WriteString(strings.Join(s.names[text], "; ") + "\n" + text)
	}
	return b.String()
}

// options is the table of a finding's options, with a column for each effect that any of them has.
func options(f advise.Finding) *grid {
	var whats []string
	units := map[string]quantity.Unit{}
	for _, o := range f.Options {
		for _, e := range o.Effects {
			if _, there := units[e.What]; !there {
				whats = append(whats, e.What)
				units[e.What] = quantity.Unit(e.Unit)
			}
		}
	}
	head := append(append([]string{"option"}, whats...), "a month", "change")
	perRead := slices.ContainsFunc(f.Options, func(o advise.Option) bool { return o.PerRead != nil })
	if perRead {
		head = append(head, "per read removed")
	}
	g := newGrid(append(head, "")...)
	for _, o := range f.Options {
		row := []string{o.Name}
		for _, what := range whats {
			row = append(row, effect(o, what))
		}
		mark := ""
		if o.Advised {
			mark = "← advised"
		}
		row = append(row, amount(o.Price, false), amount(o.Change, true))
		if perRead {
			row = append(row, each(o))
		}
		g.row(append(row, mark)...)
	}
	return g
}

// each is what an option costs a month for each read a second that it takes from the disk.
func each(o advise.Option) string {
	if o.PerRead == nil {
		return "–"
	}
	s := fmt.Sprintf("%s %.3g", o.Change.Currency, *o.PerRead)
	switch low, high := fmt.Sprintf("%.2g", o.PerReadLow), fmt.Sprintf("%.2g", o.PerReadHigh); {
	case o.PerReadHigh >= advise.Forever:
		s += fmt.Sprintf(" (%s or more)", low)
	case low != high:
		s += fmt.Sprintf(" (%s to %s)", low, high)
	}
	return s
}

// ended is the effect of which 0 seconds say that it is so already.
const ended = "until the burst ends"

// never is from when on a time is called so, in seconds: longer ones do not fit into a duration.
const never = 9e9

func effect(o advise.Option, what string) string {
	for _, e := range o.Effects {
		if e.What != what {
			continue
		}
		unit := quantity.Unit(e.Unit)
		write := func(v float64) string {
			if unit == quantity.Seconds && v >= never {
				return "never"
			}
			if what == ended && v == 0 {
				return "it has ended"
			}
			if unit == quantity.Seconds && v >= 60 {
				return quantity.Duration(time.Duration(v * float64(time.Second)))
			}
			return unit.Format(v)
		}
		if write(e.Low) == write(e.High) {
			return write(e.Then)
		}
		s := fmt.Sprintf("%s (%s to %s)", write(e.Then), write(e.Low), write(e.High))
		if e.Note != "" {
			s += " low confidence"
		}
		return s
	}
	return "–"
}

func amount(p advise.Price, change bool) string {
	if !p.Known() {
		return "unknown"
	}
	sign := ""
	if change {
		switch {
		case p.Month > 0.5:
			sign = "+"
		case p.Month < -0.5:
			sign = "−"
		default:
			return "±0"
		}
	}
	s := sign + p.Currency + " " + quantity.Count.Format(math.Abs(p.Month))
	if p.High-p.Low > 0.02*math.Abs(p.Month) {
		s += " ±" + quantity.Count.Format((p.High-p.Low)/2)
	}
	return s
}

// update is the command that reads the prices of a report's region.
func update(r *advise.Report) string {
	if r.Region == "" {
		return "set aws: {region: …} in plimsoll.yaml, then plimsoll prices update --region REGION"
	}
	return "plimsoll prices update --region " + r.Region
}

// remarks are what is not known, and where prices come from.
func remarks(r *advise.Report) []string {
	out := append([]string{}, r.Unknown...)
	if r.Score != "" {
		out = append(out, r.Score)
	}
	told, old := map[string]bool{}, false
	var missing, classes, sources []string
	for _, f := range r.Findings {
		for _, o := range f.Options {
			p := o.Price
			switch key := p.Source + p.Unknown; {
			case told[key] || key == "":
			case p.Known():
				told[key] = true
				sources = append(sources, p.Source)
			case o.Class != "":
				told[key] = true
				classes = append(classes, o.Class)
			default:
				told[key] = true
				missing = append(missing, p.Unknown)
			}
			old = old || p.Old
		}
	}
	for _, s := range sources {
		if !slices.ContainsFunc(sources, func(more string) bool { return len(more) > len(s) && strings.Contains(more, s) }) {
			out = append(out, fmt.Sprintf("Prices of %s: %s.", r.Region, s))
		}
	}
	if len(classes) > 0 {
		missing = append(missing, fmt.Sprintf("the catalogue has no price in %s for %s", r.Region, strings.Join(classes, ", ")))
	}
	if len(missing) > 0 {
		out = append(out, "Unknown prices: "+strings.Join(missing, "; ")+". Give them in a price file of your own (--prices FILE), or ask AWS for them with your credentials: "+update(r)+".")
	}
	if old {
		out = append(out, "Some of these prices are half a year old or more. AWS tells today's, with your credentials: "+update(r)+".")
	}
	if r.Discount > 0 {
		out = append(out, fmt.Sprintf("A discount of %.0f %% is included.", 100*r.Discount))
	}
	return out
}
