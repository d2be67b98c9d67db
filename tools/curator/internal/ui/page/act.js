// What operators may do, if the server permits it: each is confirmed in a dialog that says what it
// means.

import { h, render } from './dom.js';
import { age, ownerText, visible, word } from './text.js';
import { now, post, renew } from './store.js';

const kindsWithHolders = ['lock', 'read-write', 'semaphore', 'election'];

// actionButtons are those of a holder.
export function actionButtons(r, c) {
  if (!kindsWithHolders.includes(r.kind)) return null;
  const what = visible(r.path);
  return h('span', { class: 'buttons' },
    h('button', {
      'aria-label': 'Ask ' + ownerText(c) + ' to give up ' + what, onclick: () => confirm({
        title: ['Ask ', word(c.name || 'the holder'), ' to give up ', word(r.path), '?'],
        text: ['Its node has token ' + c.token + '. The request replaces what the node says of its owner. ' +
          'A holder that was not made revocable takes no notice.'],
        button: 'Ask', request: { action: 'revoke', path: c.node, token: c.token },
      }),
    }, 'Ask for it…'),
    h('button', {
      class: 'danger', 'aria-label': 'Take ' + what + ' away from ' + ownerText(c), onclick: () => confirm({
        title: ['Take ', word(r.path), ' away from ', word(c.name || 'its holder'), '?'],
        text: ['It has held it for ' + age(now() - c.held) + ', with token ' + c.token + ', in session ' + c.session + '.',
          'Its program is not stopped. Until it finds out, it may work at the same time as the next holder. ' +
          'Where that does harm, end the program first.'],
        button: 'Take it away', danger: true, request: { action: 'break', path: c.node, token: c.token },
      }),
    }, 'Take it away…'));
}

// nodeButtons are those of a node.
export function nodeButtons(path, stat, text) {
  return h('span', { class: 'buttons' },
    h('button', {
      onclick: () => confirm({
        title: ['Set the data of ', word(path), '?'], text: ['Only if it is still at version ' + stat.version + '.'], input: text,
        button: 'Set', request: { action: 'set', path, token: stat.token, version: stat.version },
      }),
    }, 'Set data…'),
    h('button', {
      class: 'danger', onclick: () => confirm({
        title: ['Delete ', word(path), '?'],
        text: ['Only if it is still at version ' + stat.version + ' and has no children.',
          stat.session ? 'It belongs to session ' + stat.session + ', whose program may rely on it.' : 'There is no way back.'],
        button: 'Delete', danger: true, request: { action: 'delete', path, token: stat.token, version: stat.version },
      }),
    }, 'Delete…'));
}

const nameKey = 'curator-name';

// confirm asks before it does anything.
function confirm(question) {
  const before = document.activeElement;
  const place = document.getElementById('dialog');
  const state = { error: '', busy: false, closed: false };
  const close = () => {
    if (state.closed) return; // the dialog's own event comes later, when there may be another one
    state.closed = true;
    place.firstElementChild?.close();
    render(place);
    if (before && before.isConnected) before.focus();
  };
  const act = async () => {
    const who = document.getElementById('who').value.trim();
    const request = { ...question.request, who };
    if (question.input !== undefined) request.data = base64(document.getElementById('new-data').value);
    state.busy = true;
    state.error = '';
    draw();
    try {
      await post('/api/act', request);
      localStorage.setItem(nameKey, who);
      close();
      renew();
    } catch (error) {
      state.busy = false;
      state.error = error.message;
      if (!state.closed) draw();
    }
  };
  const draw = () => render(place, h('dialog', {
    'aria-labelledby': 'dialog-title', onmake: (d) => queueMicrotask(() => d.showModal()),
    onclose: close, onkeydown: (e) => {
      if (e.key === 'Enter' && e.target.id === 'who' && !state.busy) act();
    },
  },
  h('h2', { id: 'dialog-title' }, question.title),
  question.text.map((line, i) => h('p', { key: i }, line)),
  question.input !== undefined && h('label', { class: 'field' }, 'Data', h('textarea', {
    id: 'new-data', rows: 8, spellcheck: 'false', onmake: (t) => { t.value = question.input; },
  })),
  h('label', { class: 'field' }, 'Your name, for the log of curator ui', h('input', {
    id: 'who', maxlength: 64, autocomplete: 'name', onmake: (i) => { i.value = localStorage.getItem(nameKey) || ''; },
  })),
  h('p', { role: 'alert', class: 'error' }, state.error),
  h('div', { class: 'buttons' },
    h('button', { onclick: close }, 'Cancel'),
    h('button', { class: question.danger ? 'danger' : 'primary', disabled: state.busy, onclick: act }, question.button))));
  draw();
}

// base64 writes a text as UTF-8 in base64.
function base64(text) {
  let binary = '';
  for (const byte of new TextEncoder().encode(text)) binary += String.fromCharCode(byte);
  return btoa(binary);
}
