// Package protocol holds public facts about the RakNet protocol: message
// identifiers, delivery modes, priorities, versions and sizes. It has no
// behaviour beyond describing them and imports nothing but the standard library.
package protocol
