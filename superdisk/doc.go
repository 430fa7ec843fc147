// Package superdisk builds, inspects, breaks, repairs and moves a Super Disk: a RAID1 of a machine's local disk and a
// network volume, of which the local leg answers reads and the network leg survives the machine.
//
// It knows a machine (infra.Machine), mdadm and the kernel's md driver, and no database. Facts on md stand beside the code
// that relies on them; they were seen on Linux 6.1 with mdadm 4.2.
package superdisk
