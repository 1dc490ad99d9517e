// Findings: the findings of analysts, by severity or by file, with filters, a page at a time.

import { announce, button, el, fill } from './dom.js';
import { spans } from './prose.js';
import { count } from './units.js';

/** From the most to the least severe. */
export const SEVERITIES = ['high', 'medium', 'low', 'unrated'];
const PAGE = 100;
const PLACES_SHOWN = 20;

/** The panel. `show(report)` takes the report of the run as JSON. */
export function findings({ openSource }) {
  const state = { items: [], severity: 'all', words: '', by: 'severity', shown: PAGE };
  const filters = el('div', { class: 'chips', role: 'group', 'aria-label': 'Show findings by severity' });
  const search = el('input', {
    type: 'search',
    id: 'finding-words',
    placeholder: 'Words or file',
    'aria-label': 'Find in findings',
  });
  const order = el(
    'select',
    { 'aria-label': 'Group by' },
    el('option', { value: 'severity' }, 'By severity'),
    el('option', { value: 'file' }, 'By file'),
  );
  const body = el('div', { class: 'finding-list' });
  const element = el('div', {}, el('h2', { class: 'unseen' }, 'Findings'), el('div', { class: 'tools' }, filters, search, order), body);
  const draw = () => {
    const kept = state.items.filter((item) => matches(item, state));
    fill(
      filters,
      chip('all', state.items.length),
      SEVERITIES.map((name) => chip(name, state.items.filter((item) => item.severity === name).length)),
    );
    fill(
      body,
      state.items.length === 0
        ? el('p', { class: 'empty' }, 'No findings: this run has none yet, or its strategy does not produce any.')
        : kept.length === 0
          ? el('p', { class: 'empty' }, 'No finding matches the filter.')
          : groups(kept, state, openSource),
    );
    if (kept.length > state.shown) {
      body.append(
        button(
          `Show ${Math.min(PAGE, kept.length - state.shown)} more of ${kept.length}`,
          () => {
            state.shown += PAGE;
            draw();
          },
          { class: 'more' },
        ),
      );
    }
  };
  const chip = (name, n) =>
    n === 0 && name !== 'all'
      ? null
      : button(
          `${name === 'all' ? 'All' : capital(name)} ${n}`,
          () => {
            Object.assign(state, { severity: name, shown: PAGE });
            draw();
            filters.querySelector('[aria-pressed="true"]')?.focus();
            announce(`${count(state.items.filter((item) => matches(item, state)).length, 'finding')} shown`);
          },
          { class: `chip ${name}`, 'aria-pressed': String(state.severity === name) },
        );
  search.addEventListener('input', () => {
    Object.assign(state, { words: search.value.toLowerCase(), shown: PAGE });
    draw();
  });
  order.addEventListener('change', () => {
    state.by = order.value;
    draw();
  });
  return {
    element,
    show(report) {
      state.items = Array.isArray(report?.findings) ? report.findings : [];
      draw();
    },
  };
}

function matches(item, { severity, words }) {
  if (severity !== 'all' && item.severity !== severity) return false;
  if (words === '') return true;
  const { finding } = item;
  return `${finding.type} ${finding.summary} ${finding.location?.file} ${finding.evidence ?? ''}`
    .toLowerCase()
    .includes(words);
}

function groups(items, state, openSource) {
  const nameOf = (item) => (state.by === 'file' ? (item.finding.location?.file ?? '') : item.severity);
  const byName = new Map();
  for (const item of items.slice(0, state.shown)) {
    const name = nameOf(item);
    if (!byName.has(name)) byName.set(name, []);
    byName.get(name).push(item);
  }
  const names = state.by === 'file' ? Array.from(byName.keys()).sort() : SEVERITIES.filter((name) => byName.has(name));
  return names.map((name) =>
    el(
      'section',
      { class: 'group' },
      el(
        'h3',
        {},
        state.by === 'file' ? name : capital(name),
        ' ',
        // The number of all findings in the group, as on the filter button, even if the page shows fewer.
        el('span', { class: 'n' }, String(items.filter((item) => nameOf(item) === name).length)),
      ),
      byName.get(name).map((item) => card(item, openSource)),
    ),
  );
}

function card({ finding, severity, places, content_type: contentType }, openSource) {
  const others = (places ?? []).filter(
    (place) => place.file !== finding.location.file || place.line_start !== finding.location.line_start,
  );
  const isMissing = finding.quote === 'missing';
  return el(
    'article',
    { class: `finding ${severity}` },
    el(
      'h4',
      {},
      el('span', { class: `badge ${severity}` }, String(finding.type).replaceAll('_', ' ')),
      ' ',
      spans(finding.summary),
    ),
    el(
      'p',
      { class: 'where' },
      placeButton(finding.location, finding.evidence, openSource),
      [finding.location.scope, finding.location.column, finding.location.json_path]
        .filter(Boolean)
        .map((inner) => [' ', el('code', {}, inner)]),
      el('span', {}, contentType ?? ''),
      typeof finding.confidence === 'number'
        ? el('span', {}, `confidence ${Math.round(finding.confidence * 100)} %`)
        : null,
    ),
    finding.value ? el('p', { class: 'value' }, spans(finding.value)) : null,
    isMissing ? el('p', { class: 'warning' }, 'Unverified: the quote is not in the source.') : null,
    finding.evidence ? quoted(finding.evidence, contentType) : null,
    counted(finding.distribution),
    others.length > 0
      ? el(
          'p',
          { class: 'also' },
          'Also at ',
          others.slice(0, PLACES_SHOWN).map((place) => [placeButton(place, '', openSource), ' ']),
          others.length > PLACES_SHOWN ? `and ${others.length - PLACES_SHOWN} more places` : null,
        )
      : null,
  );
}

/** A quote of the source; anything but prose keeps its line breaks, in a monospaced font. */
function quoted(text, contentType) {
  return ['prose', 'markup', 'unknown', undefined].includes(contentType)
    ? el('blockquote', {}, spans(text))
    : el('pre', { class: 'code', tabindex: '0' }, text);
}

function counted(distribution) {
  const values = Object.entries(distribution ?? {})
    .sort((a, b) => b[1] - a[1])
    .slice(0, PLACES_SHOWN);
  if (values.length === 0) return null;
  return el(
    'div',
    { class: 'scroll' },
    el(
      'table',
      {},
      el('caption', {}, 'Value counts'),
      values.map(([value, n]) =>
        el('tr', {}, el('th', { scope: 'row' }, value.slice(0, 80)), el('td', { class: 'num' }, String(n))),
      ),
    ),
  );
}

function placeButton(location, quote, openSource) {
  if (!location?.line_start) return el('span', {}, location?.file ?? '');
  const name =
    location.line_end > location.line_start
      ? `${location.file}:${location.line_start}-${location.line_end}`
      : `${location.file}:${location.line_start}`;
  return button(name, () => openSource({ document: location.file, line: location.line_start, quote }), {
    class: 'place',
  });
}

function capital(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** The key by which two findings count as the same: type, words and file. */
export function findingKey({ finding }) {
  const words = String(finding.summary)
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .join(' ');
  return `${finding.type}|${words}|${finding.location?.file ?? ''}`;
}
