package rds

import "testing"

// Aurora alone has the variable aurora_server_id; what it shows is from AWS's documentation.
func TestAServerThatSaysThatItIsAnotherIsRefused(t *testing.T) {
	t.Parallel()
	for shown, fits := range map[string]bool{"": true, "reader": true, "Reader": true, "orders": false} {
		if err := is("reader", shown); (err == nil) != fits {
			t.Errorf("a server that says %q: %v", shown, err)
		}
	}
}
