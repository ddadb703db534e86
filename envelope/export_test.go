package envelope

// ParsePageListPlainly is ParsePageList without its shortcut. It is not safe for
// concurrent use.
func ParsePageListPlainly(b []byte) (*PageList, error) {
	plainPages = true
	defer func() { plainPages = false }()
	return ParsePageList(b)
}
