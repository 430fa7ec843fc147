package admin

import "plimsoll/engine"

// CreateUser makes a user who may come from anywhere; one that is there keeps its password.
func CreateUser(user string, password engine.Secret) string {
	return "CREATE USER IF NOT EXISTS " + anywhere(user) + " IDENTIFIED BY " + Text(string(password))
}

// GrantAll lets a user do everything on one database.
func GrantAll(database, user string) string {
	return "GRANT ALL ON " + Name(database) + ".* TO " + anywhere(user)
}

// GrantAdministration lets a user do everything, and grant it.
func GrantAdministration(user string) string {
	return "GRANT ALL ON *.* TO " + anywhere(user) + " WITH GRANT OPTION"
}

// SetLocalPassword gives a user of the server's own machine a password, if there is one of that name.
func SetLocalPassword(user string, password engine.Secret) string {
	return "ALTER USER IF EXISTS " + Text(user) + "@'localhost' IDENTIFIED BY " + Text(string(password))
}

func anywhere(user string) string { return Text(user) + "@'%'" }
