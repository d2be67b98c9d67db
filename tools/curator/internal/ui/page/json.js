// JSON on several lines.

const deepest = 100; // levels that are indented
const growth = 4; // the maximum of the indented text, as a multiple of the text
const small = 64 * 1024; // an indented text of this length is always permitted

// indented writes an object or a list with each member on a line of its own. Numbers and strings stay as
// they are. The result is null if the text is something else, or if it is nested so deeply that its lines
// would be much longer than the text.
export function indented(text) {
  if (text[0] !== '{' && text[0] !== '[') return null;
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const most = Math.max(small, growth * text.length);
  let out = '';
  let depth = 0;
  let before = '';
  const line = () => { out += '\n' + '  '.repeat(depth); };
  for (let at = 0; at < text.length;) {
    const end = endOf(text, at);
    const token = text.slice(at, end);
    at = end;
    if (token.trim() === '') continue;
    const empty = before === '{' || before === '[';
    if (token === '}' || token === ']') {
      depth--;
      if (!empty) line();
    } else if (empty || before === ',') {
      line();
    } else if (before === ':') {
      out += ' ';
    }
    out += token;
    if (token === '{' || token === '[') depth++;
    before = token;
    if (depth > deepest || out.length > most) return null;
  }
  return out;
}

const simple = /[^{}[\],:"\s]+|\s+|/y; // a number or a word, or spaces

// endOf is the index after the string, the number, the word, the delimiter or the spaces at an index.
function endOf(text, at) {
  if (text[at] !== '"') {
    simple.lastIndex = at;
    return at + (simple.exec(text)[0].length || 1);
  }
  for (at++; text[at] !== '"'; at++) {
    if (text[at] === '\\') at++;
  }
  return at + 1;
}
