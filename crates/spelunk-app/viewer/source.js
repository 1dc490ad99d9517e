// Source: a dialog that shows a document at a line, with the quoted words marked. A dialog traps the keyboard focus, and
// Escape closes it.

import { button, el, fill, plain } from './dom.js';

const LINES_AROUND = 12;
const LINE_CHARS_MAX = 2000;

/** The dialog. `open({document, line, quote})` shows a place. */
export function sourceDialog(origin, runId) {
  const title = el('h2', { id: 'source-title' });
  const body = el('div', { class: 'source-body' });
  const element = el(
    'dialog',
    { class: 'source-dialog', 'aria-labelledby': 'source-title' },
    el(
      'header',
      {},
      title,
      button('Close', () => element.close(), { class: 'quiet' }),
    ),
    body,
  );
  element.addEventListener('click', (event) => event.target === element && element.close());
  let nRequests = 0;
  const open = ({ document: source, line, quote = '' }) => {
    nRequests += 1;
    const requestIdx = nRequests;
    fill(title, el('code', {}, `${source}:${line}`));
    fill(body, el('p', { class: 'empty' }, 'Loading the source…'));
    if (!element.open) element.showModal();
    origin
      .source(runId, { source, line, context: LINES_AROUND })
      .then((found) => {
        if (requestIdx !== nRequests) return;
        fill(body, remarks(found), listing(found, line, quote));
        body.querySelector('mark')?.scrollIntoView({ block: 'center' });
      })
      .catch((error) => {
        if (requestIdx !== nRequests) return;
        fill(body, el('p', { class: 'failure' }, error.message), quote ? el('blockquote', {}, quote) : null);
      });
  };
  return { element, open };
}

function remarks(found) {
  if (found.changed)
    return el(
      'p',
      { class: 'warning' },
      'The document has changed since the run read it: the text may have moved.',
    );
  return found.total_lines
    ? el(
        'p',
        { class: 'hint' },
        `Lines ${found.first_line} to ${found.first_line + found.lines.length - 1} of ${found.total_lines}`,
      )
    : null;
}

function listing(found, line, quote) {
  const lines = found.lines.map((text) => String(text).slice(0, LINE_CHARS_MAX));
  const marks = locate(lines, line - found.first_line, quote);
  return el(
    'pre',
    { class: 'source', tabindex: '0', 'aria-label': 'Source lines' },
    lines.map((text, idx) => {
      const number = found.first_line + idx;
      const mark = marks.get(idx);
      const isCited = mark !== undefined || (marks.size === 0 && number === line);
      return el(
        'span',
        { class: isCited ? 'line meant' : 'line' },
        el('span', { class: 'no', 'aria-hidden': 'true' }, String(number)),
        mark
          ? [text.slice(0, mark[0]), el('mark', {}, text.slice(mark[0], mark[1])), text.slice(mark[1])]
          : isCited
            ? el('mark', {}, text || ' ')
            : text,
        '\n',
      );
    }),
  );
}

/**
 * Finds a quote in these lines: a `Map` of line to `[from, to]`. The search starts at the cited line and treats all runs
 * of white space as equal, because models do not preserve it.
 */
export function locate(lines, at, quote) {
  const wanted = plain(quote).trim().split(/\s+/u).filter(Boolean);
  if (wanted.length === 0) return new Map();
  const pattern = new RegExp(wanted.map((word) => word.replace(/[.*+?^${}()|[\]\\]/gu, '\\$&')).join('\\s+'), 'u');
  for (const first of [Math.max(0, at), 0]) {
    const text = lines.slice(first).join('\n');
    const found = pattern.exec(text);
    if (found) return marksBetween(lines, first, found.index, found.index + found[0].length);
  }
  return new Map();
}

function marksBetween(lines, first, from, to) {
  const marks = new Map();
  let start = 0;
  for (let idx = first; idx < lines.length; idx += 1) {
    const end = start + lines[idx].length;
    if (from <= end && to > start) marks.set(idx, [Math.max(0, from - start), Math.min(lines[idx].length, to - start)]);
    start = end + 1;
  }
  return marks;
}

/** Citations as a list of links, except rows of a database. `checked` maps citation keys to the results of their checks. */
export function citationList(citations, checked, openSource) {
  return el(
    'ol',
    { class: 'citations' },
    citations.map((citation) => {
      const found = checked.get(citationKey(citation));
      return el(
        'li',
        {},
        citation.line === 0
          ? el('span', { class: 'place' }, citation.document)
          : button(`${citation.document}:${citation.line}`, () => openSource(citation), { class: 'place' }),
        found === 'missing'
          ? el('span', { class: 'badge high' }, 'not in the source')
          : found === 'moved'
            ? el('span', { class: 'badge' }, 'line corrected')
            : null,
        el('q', {}, citation.quote),
      );
    }),
  );
}

/** The key of a citation. */
export function citationKey(citation) {
  return `${citation.document}:${citation.line}:${citation.quote}`;
}
