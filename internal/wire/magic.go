package wire

// magic marks offline packets. Its first byte can't begin a datagram of a
// connection, and the sequence is unlikely in foreign traffic on the same port.
const magic = "\x00\xff\xff\x00\xfe\xfe\xfe\xfe\xfd\xfd\xfd\xfd\x12\x34\x56\x78"

// MagicSize is the length of the offline marker in bytes.
const MagicSize = len(magic)

// HasMagic reports whether b begins with the offline marker.
func HasMagic(b []byte) bool {
	return len(b) >= MagicSize && string(b[:MagicSize]) == magic
}

// AppendMagic appends the offline marker.
func AppendMagic(dst []byte) []byte { return append(dst, magic...) }
