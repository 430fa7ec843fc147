package hint

import "errors"

// Of is the hint of an error; "" if it has none.
func Of(err error) string {
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		return hinted.Hint()
	}
	return ""
}
