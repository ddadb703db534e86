// Package powercut simulates the effect of a power cut, or of a failing disk, on files that the
// library writes. It is for tests only.
//
// A Log records the operations of a program on its files, through the hook of package diskfile or
// through an in-memory Target. From them it generates the possible contents of a file after a power
// cut.
//
// # The model of a disk
//
// A sync makes all earlier writes and truncations of its file durable, and nothing else. Each later
// one may or may not have reached the disk, independently of the others and of their order. A write
// can be torn at 512-byte sector boundaries: each sector is either old or new as a whole. The
// length of the file is determined by the surviving writes, and gaps read as zeros; of a write,
// only the change of the length may survive.
//
// Creating, renaming or removing a name is durable once its folder is synced; until then, any
// prefix of the changes of the folder may have reached the disk, as on journaling file systems. A
// rename is atomic, and not ordered with writes to the file.
//
// Not modeled: changes to sectors that are not written to, stale bytes of other files in newly
// allocated space, and disks that acknowledge a sync too early.
package powercut
