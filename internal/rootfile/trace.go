package rootfile

import "github.com/go-rntuple/go-rntuple/internal/wire"

// WalkInfos has c read streamer infos, the object behind a key of keyLen bytes.
func WalkInfos(c *wire.Codec, keyLen uint16) {
	l := streamerInfos{KeyLen: int(keyLen)}
	l.Wire(c)
}

// DirectoryPath is how errors and others call the directory at path.
func DirectoryPath(path string) string { return directoryName(path) }
