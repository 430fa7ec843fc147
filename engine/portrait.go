package engine

import "context"

// Portrayed is a database that tells what another must have to be like it. It only asks. Implemented by a Database.
type Portrayed interface {
	// Configured returns the settings that somebody gave the server, as it shows them: not its defaults, and not those that say where
	// it is or who it is (addresses, folders, certificates). It says what it leaves out because its value may hold a secret.
	Configured(ctx context.Context) (settings map[string]string, without []string, err error)
	// Schema returns the statements that make the same empty tables, in an order in which they can be executed, and says what it
	// leaves out.
	Schema(ctx context.Context) (statements, without []string, err error)
}
