// The tree of nodes: children, data, Stat and ACL of one of them.

import { h } from './dom.js';
import { nodeButtons } from './act.js';
import { indented } from './json.js';
import { address, block, bytes, count, nodeLink, number, recipeLink, sessionLink, visible, when, word } from './text.js';
import { resource, store } from './store.js';
import { table } from './table.js';

const part = 200; // children in one answer

// treeView shows a node. Its parameters are path, find, a part of the names of children, from, the
// first child that is shown, as, how data is shown, and all, so that data is shown to its end.
export function treeView(params, go) {
  const path = params.get('path') || store.root;
  const find = params.get('find') || '';
  const from = Number(params.get('from')) || 0;
  const all = params.get('all') || '';
  const r = resource('node', '/api/node', { path, find, from, all }, 2000);
  const to = (changes, replace) => go(address('tree', { ...Object.fromEntries(params), path, ...changes }), replace);
  return {
    title: visible(path),
    body: [
      search(go, params),
      h('nav', { 'aria-label': 'Path', class: 'crumbs', key: 'crumbs' }, crumbs(path)),
      h('h1', { tabindex: -1 }, word(path === '/' ? '/' : path.slice(path.lastIndexOf('/') + 1))),
      store.recipes.has(path) && h('p', { key: 'recipe' }, 'It is a recipe: ', recipeLink(path)),
      r.error && h('p', { class: 'error', role: 'alert', key: 'error' }, r.error),
      r.value && r.value.path === path && node(r.value, params, find, to),
    ],
  };
}

// search finds paths.
function search(go, params) {
  const text = params.get('search') || '';
  const found = text && resource('search', '/api/search', { text }, 1000);
  return h('div', { class: 'tools', key: 'search' },
    h('label', { class: 'find' }, h('span', null, 'Search for a path'), h('input', {
      type: 'search', id: 'search', value: text, autocomplete: 'off', spellcheck: 'false',
      oninput: (e) => go(address('tree', { ...Object.fromEntries(params), search: e.target.value }), true),
    })),
    found && found.value && h('ul', { class: 'found', 'aria-label': 'Paths that were found' },
      found.value.paths.map((path) => h('li', { key: path }, nodeLink(path))),
      found.value.paths.length === 0 && h('li', { class: 'quiet' }, 'No path has this in it.'),
      found.value.more && h('li', { class: 'quiet' }, 'There are more.')),
    found && found.error && h('p', { class: 'error' }, found.error));
}

function crumbs(path) {
  const list = [];
  const names = path === '/' ? [] : path.slice(1).split('/');
  const inside = (p) => store.root === '/' || p === store.root || p.startsWith(store.root + '/');
  if (inside('/')) list.push(h('a', { key: '/', href: address('tree', { path: '/' }) }, '/'));
  names.forEach((name, i) => {
    const p = '/' + names.slice(0, i + 1).join('/');
    const last = i === names.length - 1;
    if (inside(p)) list.push(h('a', { key: p, href: address('tree', { path: p }), 'aria-current': last ? 'page' : null }, word(name)));
  });
  return list.flatMap((link, i) => (i > 0 ? [' › ', link] : [link]));
}

function node(n, params, find, to) {
  return [
    n.problem && h('p', { class: 'notice', key: 'problem' }, n.problem),
    h('section', { key: 'children' }, h('h2', null, 'Children'), children(n, find, to)),
    h('section', { key: 'data' }, h('h2', null, 'Data', n.stat ? h('span', { class: 'quiet' }, ' ' + bytes(n.stat.dataLength)) : null),
      n.data !== null && data(n, params.get('as') || '', to),
      store.actions && n.stat && n.data !== null && nodeButtons(n.path, n.stat, textOf(n).text)),
    n.stat && h('section', { key: 'stat' }, h('h2', null, 'Stat'), stat(n.stat)),
    n.acl.length > 0 && h('section', { key: 'acl' }, h('h2', null, 'ACL'), table('acl', 'ACL', [['Scheme', ''], ['Id', 'main'], ['Permissions', '']],
      n.acl.map((entry, i) => ({ key: i, cells: [entry.scheme, word(entry.id), entry.perms] })))),
  ];
}

function children(n, find, to) {
  const more = n.from + n.children.length < n.total;
  return [
    (n.total > 20 || find) && h('label', { class: 'find', key: 'find' }, h('span', null, 'Names with'), h('input', {
      type: 'search', value: find, autocomplete: 'off', spellcheck: 'false', oninput: (e) => to({ find: e.target.value, from: '' }, true),
    })),
    n.total === 0 ? h('p', { class: 'quiet', key: 'none' }, find ? 'No name has this in it.' : 'None.')
      : h('ul', { class: 'children', key: 'list' }, n.children.map((c) => h('li', { key: c.name },
        h('a', { href: address('tree', { path: (n.path === '/' ? '' : n.path) + '/' + c.name }) }, word(c.name)),
        ' ', h('span', { class: 'quiet' }, bytes(c.size), c.session ? [', of session ', sessionLink(c.session)] : null)))),
    (more || n.from > 0) && h('p', { class: 'more', key: 'more' },
      n.from > 0 && h('button', { onclick: () => to({ from: Math.max(0, n.from - part) }) }, 'Earlier'), ' ',
      more && h('button', { onclick: () => to({ from: n.from + part }) }, 'Later'),
      ' ' + number(n.from + 1) + ' to ' + number(n.from + n.children.length) + ' of ' + count(n.total, 'name')),
  ];
}

let decoded = { data: null }; // the data that was decoded last

// textOf decodes data; text is '' if it is none, and json is null unless it is JSON that can be indented.
function textOf(n) {
  if (decoded.data === n.data) return decoded;
  const raw = Uint8Array.from(atob(n.data), (c) => c.charCodeAt(0));
  let text = '';
  let isText = true;
  try {
    // A part of a text may end within a character.
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw, { stream: raw.length < n.stat.dataLength });
    isText = !text.includes('\u0000');
  } catch {
    isText = false;
  }
  const whole = raw.length >= n.stat.dataLength;
  decoded = { data: n.data, raw, text: isText ? text : '', isText, whole, json: isText && whole ? indented(text) : null };
  return decoded;
}

const longest = 64 * 1024; // of what is shown of hexadecimal data

function data(n, as, to) {
  const d = textOf(n);
  if (d.raw.length === 0) return h('p', { class: 'quiet' }, 'None.');
  const ways = [d.isText && ['text', 'Text'], d.json !== null && ['json', 'JSON'], ['hex', 'Hex']].filter(Boolean);
  const way = ways.some(([id]) => id === as) ? as : d.json !== null ? 'json' : ways[0][0];
  return [
    h('div', { class: 'choices', role: 'group', 'aria-label': 'How data is shown', key: 'ways' }, ways.map(([id, title]) => h('button', {
      key: id, 'aria-pressed': id === way ? 'true' : 'false', onclick: () => to({ as: id }, true),
    }, title))),
    h('pre', { key: way, class: 'data', tabindex: 0, 'aria-label': 'Data of the node', dir: 'ltr' },
      way === 'hex' ? hex(d.raw.subarray(0, longest)) : block(way === 'json' ? d.json : d.text)),
    !d.whole && h('p', { class: 'more', key: 'all' }, h('button', { onclick: () => to({ all: 1 }) }, 'Show all'),
      ' The first ' + bytes(d.raw.length) + ' of ' + bytes(n.stat.dataLength) + '.'),
    way === 'hex' && d.raw.length > longest && h('p', { class: 'quiet', key: 'long' }, 'The first ' + bytes(longest) + ' as hex.'),
  ];
}

function hex(raw) {
  const lines = [];
  for (let at = 0; at < raw.length; at += 16) {
    const row = raw.subarray(at, at + 16);
    const codes = Array.from(row, (b) => b.toString(16).padStart(2, '0'));
    const text = Array.from(row, (b) => (b >= 0x20 && b < 0x7f ? String.fromCharCode(b) : '.')).join('');
    lines.push(at.toString(16).padStart(6, '0') + '  ' + codes.slice(0, 8).join(' ').padEnd(23) + '  ' + codes.slice(8).join(' ').padEnd(23) + '  ' + text);
  }
  return lines.join('\n');
}

function stat(s) {
  const rows = [
    ['Created', when(s.created)], ['Modified', when(s.modified)], ['Version', s.version], ['Version of the children', s.cversion],
    ['Version of the ACL', s.aversion], ['Children', number(s.numChildren)], ['Session that owns it', sessionLink(s.session)],
    ['czxid', s.czxid], ['mzxid', s.mzxid], ['pzxid', s.pzxid], ['As a token', s.token],
  ];
  return h('dl', { class: 'facts' }, rows.map(([name, value]) => h('div', { key: name }, h('dt', null, name), h('dd', { class: 'figure' }, value))));
}
