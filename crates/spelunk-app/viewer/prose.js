// Prose: renders text by a model as elements. It supports the same small subset of Markdown as reports; the rest stays
// plain text. Places such as `file:line` become buttons that open the source.

import { el } from './dom.js';

const DEPTH_MAX = 4;

/** The blocks of a text. */
export function blocks(text) {
  const parts = [];
  let fence = null;
  let isNew = true;
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (fence) {
      if (trimmed === fence.mark) {
        parts.push({ is: 'code', lines: fence.lines });
        fence = null;
      } else fence.lines.push(line);
      continue;
    }
    const mark = ['```', '~~~'].find((sign) => trimmed.startsWith(sign));
    if (mark) {
      fence = { mark, lines: [] };
      isNew = true;
      continue;
    }
    if (trimmed === '') {
      isNew = true;
      continue;
    }
    take(parts, line, trimmed, isNew);
    isNew = false;
  }
  if (fence) parts.push({ is: 'code', lines: fence.lines });
  return parts;
}

function take(parts, line, trimmed, isNew) {
  const begun = begins(line, trimmed);
  const last = parts[parts.length - 1];
  if (begun?.is === 'table' && last?.is === 'table' && !isNew) last.rows.push(...begun.rows);
  else if (begun) parts.push(begun);
  else if (!isNew && last && ['paragraph', 'item', 'quote'].includes(last.is)) last.text += ` ${trimmed}`;
  else parts.push({ is: 'paragraph', text: trimmed });
}

function begins(line, trimmed) {
  const heading = /^(#{1,6}) (.*)$/.exec(trimmed);
  if (heading) return { is: 'heading', level: heading[1].length, text: heading[2].trim() };
  if (/^(-{3,}|\*{3,}|_{3,})$/.test(trimmed)) return { is: 'rule' };
  if (trimmed.startsWith('> ')) return { is: 'quote', text: trimmed.slice(2) };
  if (trimmed.length > 1 && trimmed.startsWith('|') && trimmed.endsWith('|')) {
    const cells = trimmed
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim());
    return { is: 'table', rows: cells.every((cell) => /^[:-]+$/.test(cell)) ? [] : [cells] };
  }
  const depth = Math.min(DEPTH_MAX, Math.ceil((line.length - line.trimStart().length) / 2));
  if (/^[-*+] /.test(trimmed)) return { is: 'item', depth, marker: '•', text: trimmed.slice(2).trim() };
  const numbered = /^(\d{1,9})\. (.*)$/.exec(trimmed);
  return numbered ? { is: 'item', depth, marker: `${numbered[1]}.`, text: numbered[2].trim() } : null;
}

/** The text as elements. `places` are names `file:line` that `open(place)` can show. */
export function prose(text, places = new Set(), open = () => {}) {
  const root = el('div', { class: 'prose' });
  let list = null;
  // A heading is at most one level below the previous one, because screen readers navigate by level.
  let level = 2;
  const inline = (words) => spans(words, places, open);
  for (const part of blocks(text)) {
    if (part.is !== 'item') list = null;
    if (part.is === 'item') {
      if (!list) root.append((list = el('ul', { class: 'list' })));
      list.append(
        el(
          'li',
          { class: `d${part.depth}` },
          el('span', { class: 'm' }, part.marker),
          el('span', {}, inline(part.text)),
        ),
      );
    } else if (part.is === 'heading') {
      level = Math.min(6, level + 1, Math.max(3, part.level + 1));
      root.append(el(`h${level}`, {}, inline(part.text)));
    } else if (part.is === 'quote') root.append(el('blockquote', {}, inline(part.text)));
    else if (part.is === 'code') root.append(el('pre', { class: 'code', tabindex: '0' }, part.lines.join('\n')));
    else if (part.is === 'rule') root.append(el('hr'));
    else if (part.is === 'table') root.append(grid(part.rows, inline));
    else root.append(el('p', {}, inline(part.text)));
  }
  return root;
}

function grid(rows, inline) {
  const line = (cells, tag) =>
    el(
      'tr',
      {},
      cells.map((cell) => el(tag, {}, inline(cell))),
    );
  return el(
    'div',
    { class: 'scroll', tabindex: '0' },
    el(
      'table',
      {},
      rows.map((cells, idx) => line(cells, idx === 0 ? 'th' : 'td')),
    ),
  );
}

/** Bold, code and places within a line. A delimiter without its counterpart is text. */
export function spans(text, places = new Set(), open = () => {}) {
  const pieces = String(text ?? '').split('`');
  const hasLoose = pieces.length % 2 === 0;
  return pieces.map((piece, idx) => {
    const isLast = idx + 1 === pieces.length;
    if (idx % 2 === 1 && !(hasLoose && isLast)) return el('code', {}, linked(piece, places, open));
    return bold((hasLoose && isLast ? '`' : '') + piece, places, open);
  });
}

function bold(text, places, open) {
  const parts = text.split('**');
  return parts.map((part, idx) => {
    const hasPartner = idx % 2 === 1 && idx + 1 < parts.length;
    const shown = linked((idx % 2 === 1 && !hasPartner ? '**' : '') + part, places, open);
    return hasPartner ? el('strong', {}, shown) : shown;
  });
}

function linked(text, places, open) {
  if (places.size === 0) return [text];
  return text.split(/([\s(),;[\]]+)/u).map((word) => {
    const place = word.replace(/[.:]+$/u, '');
    if (!places.has(place)) return word;
    return [
      el('button', { type: 'button', class: 'place', on: { click: () => open(place) } }, place),
      word.slice(place.length),
    ];
  });
}
