// Tables, which on a narrow screen are lists of rows. Roles are said outright, because some
// browsers forget them when a table is not displayed as one.

import { h } from './dom.js';
import { number } from './text.js';

const step = 50;
const shown = new Map(); // how many rows a table shows, by its name
let changed = () => {};

// onMore sets what is called when a table is to show more rows.
export function onMore(fn) {
  changed = fn;
}

// table describes a table. columns are [heading, class]; a row is {key, cells, class}. more, if
// given, is how many rows there are that are not in rows.
export function table(name, caption, columns, rows) {
  const most = shown.get(name) || step;
  const part = rows.slice(0, most);
  return [
    h('table', { role: 'table', 'aria-label': caption, key: name, class: columns.length > 7 ? 'wide' : null },
      h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' },
        columns.map(([heading, kind]) => h('th', { role: 'columnheader', scope: 'col', class: kind }, heading)))),
      h('tbody', { role: 'rowgroup' }, part.map((row) => h('tr', { role: 'row', key: row.key, class: row.class },
        row.cells.map((cell, i) => h('td', {
          role: 'cell', class: columns[i][1], 'data-label': columns[i][0],
        }, cell)))))),
    rows.length > most && h('p', { class: 'more', key: name + ' more' },
      h('button', { onclick: () => { shown.set(name, most + 4 * step); changed(); } }, 'Show more'),
      ' ' + number(rows.length - most) + ' more rows'),
  ];
}
