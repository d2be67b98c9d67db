'use strict';

// Has node-zookeeper-client do what a test asks for: see kazoo_peer.py. It has no recipes, so its users write them, as here.

const readline = require('readline');
const {promisify} = require('util');
const zookeeper = require(process.env.PEER_MODULES + '/node-zookeeper-client');

const {CreateMode, Exception} = zookeeper;
const MODES = {
  persistent: CreateMode.PERSISTENT,
  ephemeral: CreateMode.EPHEMERAL,
  sequential: CreateMode.PERSISTENT_SEQUENTIAL,
  both: CreateMode.EPHEMERAL_SEQUENTIAL,
};

const [connectString, sessionTimeout] = process.argv.slice(2);
const client = zookeeper.createClient(connectString, {sessionTimeout: Number(sessionTimeout)});
const call = (method, ...args) => promisify(client[method].bind(client))(...args);
// Callbacks with two results: the data or the children, and the stat.
const read = (method, path, watcher) => new Promise((resolve, reject) =>
  client[method](path, watcher, (error, result, stat) => (error ? reject(error) : resolve({result, stat}))));
const isError = (error, name) => error.getCode && error.getCode() === Exception[name];

const locks = new Map();
const watches = new Map();

async function create(path, data, mode) {
  const parent = path.slice(0, path.lastIndexOf('/'));
  if (parent) {
    await call('mkdirp', parent);
  }
  return call('create', path, Buffer.from(data), zookeeper.ACL.OPEN_ACL_UNSAFE, MODES[mode]);
}

// A lock as ZooKeeper's documentation describes it.
async function acquire(path, mark, data) {
  const node = await create(`${path}/${mark}`, data, 'both');
  const number = (name) => name.slice(-10);
  for (;;) {
    const {result: children} = await read('getChildren', path, null);
    const queue = children.filter((name) => new RegExp(mark + '\\d{10}$').test(name))
      .sort((a, b) => (number(a) < number(b) ? -1 : 1));
    const place = queue.indexOf(node.slice(path.length + 1));
    if (place === 0) {
      return node;
    }
    if (place < 0) {
      throw new Error(`${node} is gone`);
    }
    let gone;
    const wait = new Promise((resolve) => { gone = resolve; });
    if (await call('exists', `${path}/${queue[place - 1]}`, gone)) {
      await wait;
    }
  }
}

async function add(path, times) {
  const bytes = (number) => {
    const buffer = Buffer.alloc(8);
    buffer.writeBigInt64BE(number);
    return buffer;
  };
  let number;
  for (let i = 0; i < Number(times);) {
    try {
      const {result: data, stat} = await read('getData', path, null);
      number = data.readBigInt64BE() + 1n;
      await call('setData', path, bytes(number), stat.version);
      i++;
    } catch (error) {
      if (!isError(error, 'BAD_VERSION')) {
        throw error;
      }
    }
  }
  return number;
}

const commands = {
  session: () => client.getSessionId().toString('hex').replace(/^0+/, ''),
  create,
  get: async (path) => {
    const {result: data, stat} = await read('getData', path, null);
    return `${stat.version} ${data}`;
  },
  set: async (path, data, version) => (await call('setData', path, Buffer.from(data), Number(version))).version,
  delete: (path, version) => call('remove', path, Number(version)),
  children: async (path) => (await read('getChildren', path, null)).result.sort().join(' '),
  owner: async (path) => {
    const stat = await call('exists', path, null);
    return stat ? stat.ephemeralOwner.toString('hex').replace(/^0+(?=.)/, '') : 'none';
  },
  watch: async (path) => {
    let fire;
    watches.set(path, new Promise((resolve) => { fire = resolve; }));
    await read('getData', path, fire);
  },
  fired: async (path) => { await watches.get(path); },
  lock: async (path, mark, data) => {
    const node = await acquire(path, mark, data);
    locks.set(path + mark, node);
    return node;
  },
  unlock: (path, mark) => call('remove', locks.get(path + mark), -1),
  add,
  round: async (path, counter, times) => {
    for (let i = 0; i < Number(times); i++) {
      const node = await acquire(path, 'lock-', 'round');
      const {result: data} = await read('getData', counter, null);
      await call('setData', counter, Buffer.from(String(Number(data) + 1)), -1);
      await call('remove', node, -1);
    }
  },
  offer: (path, data) => create(path + '/qn-', data, 'sequential'),
  take: async (path) => {
    const {result: children} = await read('getChildren', path, null);
    for (const name of children.sort()) {
      try {
        const {result: data} = await read('getData', `${path}/${name}`, null);
        await call('remove', `${path}/${name}`, -1);
        return data;
      } catch (error) {
        if (!isError(error, 'NO_NODE')) {
          throw error;
        }
      }
    }
    return 'none';
  },
};

async function answer(line) {
  const [number, command, ...args] = line.split(' ');
  let text;
  try {
    const result = await commands[command](...args);
    text = 'ok ' + (result === undefined || result === null ? '' : result);
  } catch (error) {
    text = 'error ' + String(error).replace(/\n/g, ' ');
  }
  process.stdout.write(`${number} ${text}\n`);
}

client.once('connected', () => {
  const input = readline.createInterface({input: process.stdin});
  input.on('line', answer);
  input.on('close', () => process.exit(0));
});
client.connect();
