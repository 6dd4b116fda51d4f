'use strict'

// jsp-raknet: a small implementation in JavaScript, protocol version 10.

const { run } = require('./protocol')
const { Client, Server, EncapsulatedPacket } = require('jsp-raknet')

run(report => {
  let connection = null
  let close = null

  return {
    async listen ({ host, port, pong }) {
      const s = new Server(host, port, { toString: () => pong || '' })
      s.on('openConnection', c => { connection = c; report.connected() })
      s.on('encapsulated', packet => report.message(packet.buffer))
      // A client that leaves closes the whole server.
      s.on('closing', () => report.disconnected('closing'))
      // Closing the server would close the socket before the notification has left it.
      close = () => connection.close()
      await s.listen()
      report.ready(port)
    },
    dial ({ host, port }) {
      const c = new Client(host, port)
      c.on('connected', open => { connection = open; report.connected() })
      c.on('encapsulated', packet => report.message(packet.buffer))
      c.on('disconnect', reason => report.disconnected(reason))
      c.on('error', e => report.failed(e))
      close = () => c.close('local')
      c.connect()
    },
    ping ({ host, port }) {
      new Client(host, port).ping(name => report.pong(name))
    },
    send (bytes, reliability, channel) {
      const packet = new EncapsulatedPacket()
      packet.reliability = reliability
      packet.orderChannel = channel
      packet.buffer = bytes
      connection.addEncapsulatedToQueue(packet)
    },
    close () { close() }
  }
})
