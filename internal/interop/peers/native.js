'use strict'

// The original C++ engine, through the node addon raknet-native. The addon's own JavaScript swallows most of the engine's
// notices, so this talks to the binding below it.

const os = require('os')
const { run } = require('./protocol')

// The package picks its prebuilt file by the kernel's major version and ships only the one named 5 for Linux.
if (process.platform === 'linux') os.release = () => '5.0.0'
const { RakClient, RakServer } = require('raknet-native')

const HIGH_PRIORITY = 1
const ID = { accepted: 0x10, failed: 0x11, incoming: 0x13, disconnect: 0x15, lost: 0x16, pong: 0x1c, firstUser: 0x80 }
const refusals = {
  0x0a: 'the server requires a public key',
  0x0b: 'our system requires security',
  0x11: 'connection attempt failed',
  0x12: 'already connected',
  0x14: 'no free incoming connections',
  0x17: 'banned',
  0x18: 'invalid password',
  0x19: 'incompatible protocol version',
  0x1a: 'recently connected'
}

run(report => {
  let send = null
  let close = null

  // The binding takes an ArrayBuffer of exactly the message.
  const whole = bytes => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)

  function received (bytes) {
    if (bytes[0] >= ID.firstUser) return report.message(bytes)
    switch (bytes[0]) {
      case ID.accepted: case ID.incoming: return report.connected()
      case ID.disconnect: return report.disconnected('notified')
      case ID.lost: return report.disconnected('lost')
      case ID.pong: return report.pong(pongText(bytes.subarray(5)))
    }
    if (refusals[bytes[0]]) report.failed(refusals[bytes[0]])
  }

  // The engine hands out raw data after its own four bytes of time; Bedrock servers put a length before the text.
  function pongText (data) {
    if (data.length >= 2 && data.readUInt16BE(0) === data.length - 2) data = data.subarray(2)
    return data.toString()
  }

  function client ({ host, port, version }) {
    const c = new RakClient(host, port, { protocolVersion: version || 11 })
    c.listen(buffers => { for (const b of buffers) received(Buffer.from(b)) })
    send = (bytes, reliability, channel) => c.send(whole(bytes), HIGH_PRIORITY, reliability, channel, false)
    close = () => c.close()
    return c
  }

  return {
    listen ({ host, port, version, pong }) {
      const s = new RakServer(host, port, { maxConnections: 8, protocolVersion: version || 11 })
      s.setPongResponse(Buffer.from(pong || ''))
      s.listen(packets => {
        for (const [buffer, address, guid] of packets) {
          const bytes = Buffer.from(buffer)
          const [host, port] = address.split('/')
          send = (bytes, reliability, channel) => s.send(host, parseInt(port), whole(bytes), HIGH_PRIORITY, reliability, channel, false)
          close = () => s.kick(guid, false)
          received(bytes)
        }
      })
      report.ready(port)
    },
    dial (o) { client(o).connect() },
    ping (o) { client(o).ping() },
    send (bytes, reliability, channel) {
      const result = send(bytes, reliability, channel)
      if (result <= 0) throw new Error(`send: ${result}`)
    },
    close () { close() }
  }
})
