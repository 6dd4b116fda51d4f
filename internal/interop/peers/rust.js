'use strict'

// raknet-node: rust-raknet as a node addon.

const { run } = require('./protocol')
const { RaknetClient, RaknetServer } = require('raknet-node')

run(report => {
  // Both must outlive the garbage collector: what it collects, closes.
  let server = null
  let connection = null

  async function serve (c) {
    connection = c
    report.connected()
    for (;;) {
      let bytes
      try {
        bytes = await c.recv()
      } catch (e) {
        return report.disconnected(e)
      }
      report.message(bytes)
    }
  }

  // The addon's calls overtake each other unless each waits for the one before.
  let queue = Promise.resolve()
  const inOrder = f => { queue = queue.then(f).catch(e => report.broken(e)) }

  return {
    async listen ({ host, port, pong }) {
      server = await RaknetServer.bind(`${host}:${port}`)
      if (pong) server.setmotd(pong)
      report.ready(port)
      serve(await server.accept())
    },
    async dial ({ host, port }) {
      try {
        serve(await RaknetClient.connect(`${host}:${port}`))
      } catch (e) {
        report.failed(e)
      }
    },
    async ping ({ host, port }) {
      report.pong(await RaknetClient.ping(`${host}:${port}`))
    },
    send (bytes) { inOrder(() => connection.send(bytes)) },
    close () { inOrder(() => connection.close()) }
  }
})
