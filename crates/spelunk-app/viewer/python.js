// Python: highlights comments, strings, numbers and keywords. It never changes the text.

import { el } from './dom.js';

const KEYWORDS =
  'and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|' +
  'None|nonlocal|not|or|pass|raise|return|True|False|try|while|with|yield';
const TOKEN = new RegExp(
  [
    '(?<comment>#[^\\n]*)',
    `(?<string>[rbfuRBFU]{0,2}(?:"""[^]*?(?:"""|$)|\'\'\'[^]*?(?:\'\'\'|$)|"(?:\\\\.|[^"\\\\\\n])*"?|\'(?:\\\\.|[^\'\\\\\\n])*\'?))`,
    `(?<keyword>\\b(?:${KEYWORDS})\\b)`,
    '(?<number>\\b\\d[\\w.]*)',
    '(?<call>\\b[A-Za-z_]\\w*(?=\\())',
    '\\w+',
  ].join('|'),
  'gu',
);

/** The text as nodes. */
export function highlighted(text) {
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(TOKEN)) {
    const kind = Object.keys(found.groups).find((name) => found.groups[name] !== undefined);
    if (!kind) continue;
    nodes.push(text.slice(at, found.index), el('span', { class: `py-${kind}` }, found[0]));
    at = found.index + found[0].length;
  }
  nodes.push(text.slice(at));
  return nodes;
}
