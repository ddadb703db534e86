package rootfile

import "github.com/go-rntuple/go-rntuple/frame"

// WalkInfos walks c over streamer infos, the object that follows a key of keyLen
// bytes.
func WalkInfos(c *frame.Codec, keyLen uint16) {
	l := streamerInfos{KeyLen: int(keyLen)}
	l.Wire(c)
}

// DirectoryPath returns the name that messages use for the directory at path.
func DirectoryPath(path string) string { return directoryName(path) }
