'use strict'

// bedrock-protocol: a whole Bedrock server and client over one of its RakNet backends, without accounts. A connection counts once
// the player has spawned, and the messages of a test travel as script messages.
//
//   node bedrock.js raknet-native | raknet-node | jsp-raknet

const os = require('os')
const { run } = require('./protocol')

// As in native.js: the prebuilt engine is named after another kernel.
if (process.platform === 'linux') os.release = () => '5.0.0'
// stdout belongs to the line protocol.
console.log = console.debug = console.info = console.error

const { Client, Server, createClient } = require('bedrock-protocol')
const initRakNet = require('bedrock-protocol/src/rak')
const minecraftData = require('minecraft-data')

const backend = process.argv[2]
const version = process.argv[3] || require('bedrock-protocol/src/options').CURRENT_VERSION
const types = minecraftData('bedrock_' + version).protocol.types

// blank makes a value of a type of the protocol: nothing is in any list, nothing optional is there, every number is 0.
function blank (type, outer = {}) {
  const [name, options] = Array.isArray(type) ? type : [type]
  switch (name) {
    case 'container': {
      const value = {}
      for (const field of options) {
        const inner = blank(field.type, value)
        if (field.anon) Object.assign(value, inner)
        else value[field.name] = inner
      }
      return value
    }
    case 'array': return []
    case 'mapper': return Object.values(options.mappings)[0]
    case 'switch': {
      const inner = options.fields[String(outer[options.compareTo])] ?? options.default
      return inner && blank(inner, outer)
    }
    case 'option': case 'void': case 'bitflags': return undefined
    case 'bool': return false
    case 'string': case 'pstring': return ''
    case 'uuid': return '00000000-0000-0000-0000-000000000000'
    case 'nbt': return { type: 'compound', name: '', value: {} }
    case 'varint64': case 'zigzag64': case 'i64': case 'li64': case 'u64': case 'lu64': return 0n
  }
  const known = types[name]
  return known && known !== 'native' ? blank(known, outer) : 0
}

function packet (name, fields) {
  return { ...blank(types['packet_' + name]), ...fields }
}

run(report => {
  let end = null // the Client of a client, the Player of a server

  // What both sides do once the player is there.
  function play (e) {
    end = e
    e.on('script_message', ({ data }) => report.message(Buffer.from(data, 'base64')))
  }

  return {
    async listen ({ host, port, pong }) {
      const motd = { motd: (pong || 'MCPE;world').split(';')[1], levelName: 'world' }
      const server = new Server({ host, port, version, offline: true, raknetBackend: backend, motd, maxPlayers: 8 })
      server.on('connect', player => {
        player.on('error', e => report.broken(e))
        player.on('close', () => report.disconnected('close'))
        // The first play packets, as a real server has them: packs, their order, the game, and then the player may spawn.
        player.on('join', () => player.write('resource_packs_info', packet('resource_packs_info')))
        player.once('resource_pack_client_response', () => {
          player.write('resource_pack_stack', packet('resource_pack_stack', { game_version: version }))
          player.once('resource_pack_client_response', () => {
            player.queue('start_game', packet('start_game', { entity_id: 1n, runtime_entity_id: 1n, world_name: 'world', game_version: version }))
            player.queue('play_status', { status: 'player_spawn' })
          })
        })
        player.on('spawn', () => {
          play(player)
          report.connected()
        })
      })
      await server.listen()
      report.ready(port)
    },
    dial ({ host, port }) {
      const client = createClient({
        host, port, version, offline: true, username: 'interop', raknetBackend: backend, skipPing: true, conLog: null, useRaknetWorkers: false
      })
      client.on('error', e => report.broken(e))
      client.on('close', () => report.disconnected('close'))
      client.on('spawn', () => {
        if (client.startGameData.world_name !== 'world') report.broken('the game has not started')
        play(client)
        report.connected()
      })
    },
    async ping ({ host, port }) {
      const { RakClient } = initRakNet(backend)
      // The original's binding hands out the length before the text as well.
      const text = await new RakClient({ host, port }, new Client({ host, port, version, delayedInit: true })).ping(10000)
      report.pong(text.slice(text.indexOf('MCPE')))
    },
    send (bytes) {
      end.queue('script_message', { message_id: 'interop:bytes', data: bytes.toString('base64') })
    },
    close () {
      end.disconnect('bye')
    }
  }
})
