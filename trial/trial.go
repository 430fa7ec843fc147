// Package trial asks a question of a real database: it runs cells or a timeline under load, measures phases and judges.
package trial

// Spec is a trial as a person writes it.
type Spec struct {
	Name string `yaml:"trial"`
}
