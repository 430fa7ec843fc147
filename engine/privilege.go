package engine

import "context"

// Right is something that an account must be allowed to do, by its purpose. Which privileges that takes, the engine knows.
type Right string

// The rights that changes and loads need.
const (
	SeeReplication    Right = "read the replication status"
	ManageReplication Right = "start, stop and change replication"
	ResetReplication  Right = "remove a source of replication"
	SwitchReadOnly    Right = "make a server read-only or writable"
	SetVariable       Right = "set a global variable" // Of: its name
	KeepVariable      Right = "persist a variable over a restart"
	SeeSessions       Right = "see the sessions of other accounts"
	EndSessions       Right = "end the sessions of other accounts"
	SeeMemory         Right = "see the pages in memory"
	HideSecrets       Right = "keep a statement with a password out of the server's logs"
	CloneServer       Right = "replace a server's data by a clone"
	ReadTables        Right = "read tables"                        // Of: a namespace
	WriteTables       Right = "read and write tables"              // Of: a namespace
	MakeTables        Right = "create and drop tables"             // Of: a namespace
	AlterTables       Right = "change tables"                      // Of: a namespace
	CopyTables        Right = "copy tables while they are written" // Of: a namespace
	MakeIndexes       Right = "create and drop indexes"            // Of: a namespace
	LogTriggers       Right = "create triggers while the binary log is written"
	ListReplicas      Right = "list the replicas for a tool" // in the namespace of the claim
	ReadBinaryLog     Right = "read the binary log as a replica does"
	SeeNodes          Right = "read the state of the nodes" // their settings, streams, hints and what they say of one another
	KeepClaim         Right = "store the claim of runs"     // in a namespace of its own, which is made when it is not there
)

// Need is a right, where it is needed and for what.
type Need struct {
	Right Right
	Of    string // a namespace, or the name of a variable; "" is the whole server
	For   string // who needs it, for people: step "set", the load
}

// Lack is what an account would have to be granted.
type Lack struct {
	Account    string   `json:"account"`    // 'app'@'%'
	Privileges []string `json:"privileges"` // as the server calls them
	Where      string   `json:"where"`      // *.*, `shop`.*
	For        []string `json:"for"`        // who needs them, for people
	Grant      string   `json:"grant"`      // the statement that gives them; several are divided by "; "
}

// Authorizing is a database that can say what its account may not do. Implemented by a Database.
type Authorizing interface {
	// Lacks returns what the account lacks of what is needed: one for each place. None where it has all, or where the server asks
	// nobody for privileges.
	Lacks(ctx context.Context, needs []Need) ([]Lack, error)
}

// Sized is a database that can say how large its tables are. Implemented by a Database.
type Sized interface {
	// TableSize returns the bytes of a table with its indexes, 0 if there is none, and the server's data folder on its machine.
	TableSize(ctx context.Context, namespace, table string) (bytes int64, folder string, err error)
}
