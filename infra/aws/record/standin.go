package record

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// standIns are the names by which values go in a folder: a keyed hash of each, so that many processes agree on them, nothing has to be
// kept, and nobody without the key can find a value by trying.
type standIns struct{ secret []byte }

func (s standIns) hash(value string) []byte {
	h := hmac.New(sha256.New, s.secret)
	h.Write([]byte(strings.ToLower(value))) // AWS keeps identifiers in lower case, however they were asked for
	return h.Sum(nil)
}

func (s standIns) short(value string) string { return hex.EncodeToString(s.hash(value))[:10] }

var (
	accountNumber = regexp.MustCompile(`^[0-9]{12}$`)
	idOfAWS       = regexp.MustCompile(`^(vol|i|db|bgd|snap|subnet|vpc|sg|eni|ami|r|cluster)-[0-9A-Za-z]{8,}$`)
	successor     = regexp.MustCompile(`^(.+)-(old[0-9]+|new[0-9]+|green-[0-9a-z]+)$`) // of a blue/green deployment
	hostOfRDS     = regexp.MustCompile(`^(.+)\.([a-z0-9-]+)\.rds\.amazonaws\.com(\.cn)?$`)
	groupOfAWS    = regexp.MustCompile(`^default\.(mysql|mariadb|aurora-mysql|aurora|aurora-postgresql|postgres)[0-9.]{0,6}$`)
	partOfARN     = regexp.MustCompile(`^[a-z-]{1,24}$`)
)

// of is what stands for a value. It has the value's form as far as one of AWS's forms is known, and so do its parts: the name in an ARN or
// an endpoint is the one that the instance has elsewhere.
func (s standIns) of(value string) string {
	switch {
	case value == "" || groupOfAWS.MatchString(value):
		return value
	case strings.HasPrefix(value, "tag:"): // a filter
		return "tag:" + s.of(strings.TrimPrefix(value, "tag:"))
	case strings.HasPrefix(value, "arn:"):
		return s.arn(value)
	case accountNumber.MatchString(value):
		return fmt.Sprintf("0000%08d", binary.BigEndian.Uint32(s.hash(value))%100_000_000)
	case isAddress(value):
		return "address-" + s.short(value)
	}
	if m := hostOfRDS.FindStringSubmatch(value); m != nil {
		labels := strings.Split(m[1], ".")
		for i, l := range labels {
			labels[i] = s.of(l)
		}
		return strings.Join(labels, ".") + "." + s.of(m[2]) + ".rds.amazonaws.com"
	}
	if m := successor.FindStringSubmatch(value); m != nil {
		if green, is := strings.CutPrefix(m[2], "green-"); is {
			return s.of(m[1]) + "-green-" + s.short(green)[:6]
		}
		return s.of(m[1]) + "-" + m[2]
	}
	if m := idOfAWS.FindStringSubmatch(value); m != nil {
		return m[1] + "-" + s.short(value)
	}
	return "name-" + s.short(value)
}

// kinds are the resources that an ARN may be of, as far as their names are kept.
var kinds = []string{"db", "cluster", "cluster-endpoint", "cluster-pg", "cluster-snapshot", "deployment", "og", "pg", "snapshot", "subgrp", "volume", "instance"}

func (s standIns) arn(value string) string {
	parts := strings.SplitN(value, ":", 6) // arn:partition:service:region:account:rest
	if len(parts) != 6 || !partOfARN.MatchString(parts[1]) || !partOfARN.MatchString(parts[2]) {
		return "arn:" + s.short(value)
	}
	rest := s.of(parts[5])
	for _, between := range []string{":", "/"} {
		if kind, name, cut := strings.Cut(parts[5], between); cut && slices.Contains(kinds, kind) {
			rest = kind + between + s.of(name)
			break
		}
	}
	return strings.Join([]string{"arn", parts[1], parts[2], s.of(parts[3]), s.of(parts[4]), rest}, ":")
}

func isAddress(value string) bool {
	_, err := netip.ParseAddr(value)
	return err == nil
}
