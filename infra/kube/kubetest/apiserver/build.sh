#!/bin/sh
# Builds kube-apiserver and etcd from their Go modules into the folder $1, unless they are there. Kubernetes' own module replaces its parts by folders
# that only its repository has: a module of our own says where they are published. About ten minutes of two cores, and 2 GB of memory, once.
set -eu
kubernetes=1.34.4 etcd=v3.6.16
folder=$1
[ -x "$folder/kube-apiserver" ] && [ -x "$folder/etcd" ] && exit 0
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
published=$(go mod download -json "k8s.io/kubernetes@v$kubernetes" | sed -n 's/.*"GoMod": "\(.*\)",*/\1/p')
{
	echo "module build"
	grep '^go ' "$published"
	echo "require k8s.io/kubernetes v$kubernetes"
	echo "require go.etcd.io/etcd/server/v3 $etcd"
	sed -n "s,^[[:space:]]*\(k8s.io/[a-z-]*\) => ./staging.*,replace \1 => \1 v0.${kubernetes#1.},p" "$published"
} >go.mod
cat >tools.go <<-'END'
	//go:build tools

	package build

	import (
		_ "go.etcd.io/etcd/server/v3"
		_ "k8s.io/kubernetes/cmd/kube-apiserver"
	)
END
export GOFLAGS=-mod=mod GOWORK=off
go mod tidy
version=k8s.io/component-base/version
nice go build -trimpath -ldflags "-s -w" -o "$folder/etcd" go.etcd.io/etcd/server/v3
nice go build -trimpath -ldflags "-s -w -X $version.gitVersion=v$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=34" -o "$folder/kube-apiserver" k8s.io/kubernetes/cmd/kube-apiserver
