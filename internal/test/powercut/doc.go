// Package powercut simulates what a power cut, or a disk that fails, does to the files that
// the library writes. It is for tests only.
//
// A Log takes the operations of a program on its files, through the hook of package diskfile
// or through a Target in memory. From them it makes the images of a file that the disk may
// hold after a power cut.
//
// # The model of a disk
//
// A sync makes all earlier writes and truncations of its file durable, and nothing else. Of
// those since then, each may have reached the disk or not, independent of the others and of
// their order. A write may be torn at the borders of sectors of 512 bytes of the file: each
// of the sectors is old or new as a whole. The file is as long as the writes that survive
// make it, and reads as zeros where none did; a write may also have left no more than the
// length.
//
// A name that was made, moved or removed is durable once its folder is synced; until then
// the disk has the changes of the folder up to any one of them, as journaling file systems
// do. A rename is atomic. It does not wait for the contents of the file.
//
// Not part of the model: sectors that a write does not touch and that change all the same,
// bytes of other files in new space, and disks that lie about a sync.
package powercut
