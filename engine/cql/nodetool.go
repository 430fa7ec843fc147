package cql

import (
	"bytes"
	"fmt"
	"path"
	"strconv"

	"plimsoll/engine"
	"plimsoll/infra"
)

func accessFile(n engine.Node) string      { return path.Join(n.Run(), "jmx.access") }
func passwordFile(n engine.Node) string    { return path.Join(n.Run(), "jmx.password") } // nodetool reads the same form
func toolLoggingFile(n engine.Node) string { return path.Join(n.Dir, "logback-tools.xml") }
func toolOptionsFile(n engine.Node) string { return path.Join(n.Run(), "nodetool.options") }

// Tool is the command that has nodetool do something with a node that runs. It takes a second or two to begin.
func (Servers) Tool(n engine.Node, args ...string) infra.Command {
	return infra.Command{
		Path: n.Dist.Paths[javaPath], Dir: n.Dir, Mark: n.Dir + "-tool", // below the cluster's, and not taken for the server
		Args: append([]string{"@" + toolOptionsFile(n), "org.apache.cassandra.tools.NodeTool",
			"-h", n.Address, "-p", strconv.Itoa(jmxPort), "-u", administrator, "-pwf", passwordFile(n)}, args...),
	}
}

// toolOptions is the file of options that nodetool's Java starts with.
func toolOptions(n engine.Node) []byte {
	var b bytes.Buffer
	for _, option := range moduleOptions {
		fmt.Fprintln(&b, option)
	}
	fmt.Fprintf(&b, "-Xmx128m\n-XX:TieredStopAtLevel=1\n-XX:+UseSerialGC\n-XX:+PerfDisableSharedMem\n-Djava.net.preferIPv4Stack=true\n")
	fmt.Fprintf(&b, "\"-Duser.home=%s\"\n", escaped(n.Temp())) // it writes a history there
	fmt.Fprintf(&b, "\"-Dlogback.configurationFile=file://%s\"\n", escaped(toolLoggingFile(n)))
	fmt.Fprintf(&b, "-cp\n\"%s\"\n", escaped(classpath(n.Dist)))
	return b.Bytes()
}

var _ engine.Administered = Engine{}

// Tool is the nodetool that is on the machine's PATH, for the node that it finds there by itself.
func (Engine) Tool(_ engine.Target, args ...string) infra.Command {
	return infra.Command{Path: "nodetool", Args: args}
}
