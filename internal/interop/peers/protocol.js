'use strict'

// The line protocol between a test and a peer process: one JSON object a line. Commands come in on stdin, events go out on stdout.
//
//   listen {host, port, version, pong}     -> ready {port}, later connected
//   dial   {host, port, version}           -> connected, or failed {text}
//   ping   {host, port, version}           -> pong {text}
//   echo   {reliability, channel}          -> echoing: every message is sent back from now on
//   send   {size, seed, count, every, reliability, channel}
//   close  {}                                 an orderly close of the connection
//
// Events besides those: message {size, seed, hash}, disconnected {text}, error {text}.
// A process ends when its stdin does, so that none outlives a test that died.

const crypto = require('crypto')
const readline = require('readline')

function emit (event, fields) {
  process.stdout.write(JSON.stringify({ event, ...fields }) + '\n')
}

// fill makes the bytes that message.go's Fill makes: fe, the seed, then a xorshift stream.
function fill (seed, size) {
  const bytes = Buffer.alloc(size)
  let x = (Math.imul(seed, 2654435761) | 1) >>> 0
  for (let i = 0; i < size; i++) {
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    bytes[i] = x & 0xff
  }
  if (size >= 5) bytes.writeUInt32BE(seed, 1)
  bytes[0] = 0xfe
  return bytes
}

// run reads commands until stdin ends. makeEngine gets the functions by which an engine reports and returns the engine:
// {listen, dial, ping, send(bytes, reliability, channel), close}.
function run (makeEngine) {
  let echo = null
  const engine = makeEngine({
    ready: port => emit('ready', { port }),
    connected: () => emit('connected'),
    disconnected: text => emit('disconnected', { text: String(text) }),
    failed: text => emit('failed', { text: String(text) }),
    broken: text => emit('error', { text: String(text) }),
    pong: text => emit('pong', { text }),
    message (bytes) {
      const hash = crypto.createHash('sha256').update(bytes).digest('hex').slice(0, 16)
      emit('message', { size: bytes.length, hash, seed: bytes.length >= 5 ? bytes.readUInt32BE(1) : 0 })
      if (echo) engine.send(bytes, echo.reliability, echo.channel)
    }
  })

  function send ({ size, seed, count, every, reliability, channel }) {
    const one = i => engine.send(fill(seed + i, size), reliability, channel)
    if (!every) {
      for (let i = 0; i < count; i++) one(i)
      return
    }
    const start = Date.now()
    let sent = 0
    const timer = setInterval(() => {
      while (sent < count && Date.now() - start >= sent * every) one(sent++)
      if (sent === count) clearInterval(timer)
    }, Math.min(every, 5))
  }

  const commands = {
    listen: engine.listen,
    dial: engine.dial,
    ping: engine.ping,
    close: engine.close,
    echo: options => { echo = options; emit('echoing') },
    send
  }
  process.on('uncaughtException', e => emit('error', { text: e.stack }))
  process.on('unhandledRejection', e => emit('error', { text: String(e && e.stack) }))
  const input = readline.createInterface({ input: process.stdin })
  input.on('line', line => {
    const command = JSON.parse(line)
    commands[command.cmd](command)
  })
  // An exit would run the native engine's destructors against a thread that still polls it.
  input.on('close', () => process.kill(process.pid, 'SIGKILL'))
}

module.exports = { run }
