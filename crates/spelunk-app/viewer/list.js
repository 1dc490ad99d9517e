// List: the runs of a workspace, newest first, with filters and paging. Two of them can be selected for comparison.

import { announce, button, el, fill } from './dom.js';
import { failurePage, statePage } from './states.js';
import { count, dollars, head, moment, shortName, startOf, time, whole } from './units.js';

const STATES = ['queued', 'running', 'waiting', 'interrupted', 'limited', 'answered', 'failed', 'cancelled', 'damaged'];
const PAGE = 50;
const REFRESH_MS = 4000;
const TYPING_MS = 250;

/** The page. It has `element` and `dispose()`. */
export function runList({ origin, go }) {
  const state = { rows: [], next: null, chosen: new Set(), filter: { state: '', q: '' }, isBusy: false };
  const search = el('input', { type: 'search', id: 'run-words', placeholder: 'Search questions' });
  const choice = el(
    'select',
    { id: 'run-state' },
    el('option', { value: '' }, 'Any state'),
    STATES.map((name) => el('option', { value: name }, name)),
  );
  const body = el('div', { class: 'runs' });
  const below = el('div', { class: 'tools' });
  const compare = button('Compare', () => go(`#/compare/${Array.from(state.chosen).join('/')}`), { disabled: true });
  const fleet = el('a', { href: '#/fleet', hidden: true }, 'Fleet');
  origin.server().then((about) => {
    fleet.hidden = !about.fleet;
  }, () => {});
  const element = el(
    'section',
    { 'aria-labelledby': 'runs-title' },
    el(
      'div',
      { class: 'page-head' },
      el('h1', { id: 'runs-title' }, 'Runs'),
      fleet,
      el('a', { class: 'primary', href: '#/new' }, 'New run'),
    ),
    el(
      'form',
      { class: 'tools', role: 'search', on: { submit: (event) => event.preventDefault() } },
      el('label', { class: 'field inline', for: 'run-words' }, el('span', {}, 'Find'), search),
      el('label', { class: 'field inline', for: 'run-state' }, el('span', {}, 'State'), choice),
      compare,
    ),
    body,
    below,
  );

  const nothing = () => {
    if (state.isBusy) return el('p', { class: 'empty' }, 'Loading the runs…');
    if (state.filter.state || state.filter.q)
      return statePage('No run matches', 'No run matches these words and this state.', button('Show all runs', () => {
        search.value = choice.value = '';
        filter();
      }));
    return statePage(
      'No runs yet',
      ['Ask a question here, or in a terminal with ', el('code', {}, 'spelunk ask "…" PATH'), '.'],
      el('a', { class: 'primary', href: '#/new' }, 'Ask a question'),
    );
  };
  const draw = () => {
    fill(
      body,
      state.rows.length === 0
        ? nothing()
        : grid(),
    );
    fill(
      below,
      state.next ? button('Older runs', () => load(true)) : null,
      el(
        'span',
        { class: 'hint' },
        state.rows.length > 0 ? `${count(state.rows.length, 'run')}${state.next ? ', more available' : ''}` : '',
      ),
    );
  };
  const pick = (row, isOn) => {
    if (isOn) state.chosen.add(row.run);
    else state.chosen.delete(row.run);
    if (state.chosen.size > 2) state.chosen.delete(state.chosen.values().next().value);
    compare.disabled = state.chosen.size !== 2;
    for (const box of body.querySelectorAll('input[type=checkbox]')) box.checked = state.chosen.has(box.value);
  };
  const grid = () =>
    el(
      'table',
      { class: 'run-table' },
      el('caption', { class: 'unseen' }, 'Runs, newest first'),
      el(
        'thead',
        {},
        el(
          'tr',
          {},
          ['', 'State', 'Question', 'Started', 'Calls', 'Cost', 'Time'].map((name, idx) =>
            el(
              'th',
              { scope: 'col', class: idx > 3 ? 'num' : null },
              name || el('span', { class: 'unseen' }, 'Compare'),
            ),
          ),
        ),
      ),
      el(
        'tbody',
        {},
        state.rows.map((row) => line(row, state.chosen.has(row.run), pick)),
      ),
    );
  const load = async (isMore = false) => {
    state.isBusy = true;
    try {
      const page = await origin.list({ ...state.filter, limit: PAGE, cursor: isMore ? state.next : undefined });
      const focused = document.activeElement?.closest?.('.run-table')
        ? document.activeElement.getAttribute('href')
        : null;
      state.rows = isMore ? state.rows.concat(page.runs) : page.runs;
      state.next = page.next ?? null;
      state.isBusy = false;
      draw();
      if (focused) body.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus();
    } catch (error) {
      state.isBusy = false;
      fill(body, failurePage(error, () => load()));
    }
  };
  let typing = 0;
  const filter = () => {
    clearTimeout(typing);
    typing = setTimeout(async () => {
      state.filter = { state: choice.value, q: search.value.trim() };
      await load();
      announce(`${count(state.rows.length, 'run')} shown`);
    }, TYPING_MS);
  };
  search.addEventListener('input', filter);
  choice.addEventListener('change', filter);
  const isMoving = () => state.rows.some((row) => row.queued || row.state === 'running');
  const timer = setInterval(() => {
    if (
      !document.hidden &&
      !state.isBusy &&
      isMoving() &&
      state.rows.length <= PAGE &&
      !element.contains(document.activeElement?.closest?.('input'))
    )
      load();
  }, REFRESH_MS);
  draw();
  load();
  return {
    element,
    title: 'Runs',
    dispose: () => {
      clearInterval(timer);
      clearTimeout(typing);
    },
  };
}

function line(row, isChosen, pick) {
  const started = whole(row.started_at_ms) || startOf(row.run);
  const box = el('input', {
    type: 'checkbox',
    value: row.run,
    'aria-label': `Compare run ${shortName(row.run)}`,
    on: { change: (event) => pick(row, event.target.checked) },
  });
  box.checked = isChosen;
  return el(
    'tr',
    { class: 'run-row' },
    el('td', { class: 'pick' }, box),
    el('td', {}, stateBadge(row.queued ? 'queued' : (row.status ?? row.state))),
    el(
      'th',
      { scope: 'row' },
      el(
        'a',
        { href: `#/run/${encodeURIComponent(row.run)}`, class: 'row-link' },
        head(row.question, 160) || shortName(row.run),
      ),
      el(
        'span',
        { class: 'id' },
        [shortName(row.run), row.strategy, row.model, row.lifecycle === 'archived' ? 'archived' : ''].filter(Boolean).join(' · '),
      ),
      row.problem?.detail ? el('span', { class: 'failure' }, head(row.problem.detail, 200)) : null,
    ),
    el('td', { class: 'when' }, moment(started).slice(0, 16)),
    el('td', { class: 'num', data: { label: 'calls' } }, String(whole(row.calls))),
    el('td', { class: 'num' }, dollars(whole(row.cost_microusd))),
    el('td', { class: 'num' }, row.active_ms === undefined || row.active_ms === null ? '' : time(whole(row.active_ms))),
  );
}

/** A coloured badge for a state: `interrupted`, `answered`, `limited: calls-exhausted`. */
export function stateBadge(state) {
  const text = String(state ?? '');
  const word = text.split(/[: ]/u)[0];
  return el('span', { class: `state ${[...STATES, 'unfinished'].includes(word) ? word : 'damaged'}` }, text);
}
