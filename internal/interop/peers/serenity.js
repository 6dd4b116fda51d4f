'use strict'

// @serenityjs/raknet: the transport of a Bedrock server in TypeScript. It has no client.

const { run } = require('./protocol')
const { Server, Frame, Priority } = require('@serenityjs/raknet')

// stdout belongs to the line protocol.
console.log = console.error

run(report => {
  let connection = null

  return {
    async listen ({ host, port, pong }) {
      const s = new Server({ address: host, port, maxConnections: 8 })
      // The server makes its answer to pings of parts; these are ours in its order.
      if (pong) advertise(s, pong)
      s.on('connect', c => { connection = c; report.connected() })
      s.on('encapsulated', (_, bytes) => report.message(bytes))
      s.on('disconnect', () => report.disconnected('disconnect'))
      s.start()
      s.socket.once('listening', () => report.ready(port))
    },
    send (bytes, reliability, channel) {
      const frame = new Frame()
      frame.reliability = reliability
      frame.orderChannel = channel
      frame.payload = bytes
      connection.sendFrame(frame, Priority.Normal)
    },
    close () { connection.disconnect() }
  }
})

function advertise (s, pong) {
  const parts = pong.split(';')
  s.message = parts[1]
  s.protocol = Number(parts[2])
  s.version = parts[3]
}
