// Log: the journal of a run, event by event, as it was written.

import { el, fill, plain } from './dom.js';
import { windowed } from './windowed.js';
import { moment } from './units.js';

const ROW_PX = 28;
const JSON_CHARS_MAX = 100000;

/** The panel. `show(events)` takes all recorded events. */
export function log() {
  const body = el(
    'div',
    { class: 'detail', role: 'region', 'aria-label': 'Event', tabindex: '-1' },
    el('p', { class: 'empty' }, 'Select an event to see its details.'),
  );
  const words = el('input', { type: 'search', placeholder: 'Type or frame', 'aria-label': 'Find events' });
  let events = [];
  const list = windowed({
    label: 'Events',
    name: 'log',
    rowPx: ROW_PX,
    key: (event) => event.seq,
    row: (event) => [
      el('span', { class: 'seq' }, String(event.seq)),
      el('span', { class: 'type' }, event.type),
      el('span', { class: 'name' }, event.call ?? event.frame ?? ''),
      el('span', { class: 'what' }, brief(event)),
      el('span', { class: 'figures' }, moment(event.at_ms).slice(11, 19)),
    ],
    classOf: (event) => String(event.type).replace('.', '-'),
    open: (event) =>
      fill(
        body,
        el('h2', {}, `Event ${event.seq}`),
        el('pre', { class: 'code', tabindex: '0' }, JSON.stringify(event, null, 2).slice(0, JSON_CHARS_MAX)),
      ),
  });
  const draw = () => {
    const wanted = words.value.trim().toLowerCase();
    list.show(
      wanted === ''
        ? events
        : events.filter((event) => `${event.type} ${event.frame} ${event.call ?? ''}`.toLowerCase().includes(wanted)),
    );
  };
  words.addEventListener('input', draw);
  return {
    element: el('div', {}, el('div', { class: 'tools' }, words), el('div', { class: 'split' }, list.element, body)),
    show(next) {
      events = next;
      draw();
    },
  };
}

/** The most informative part of an event, on one line. */
function brief(event) {
  const outcome = event.outcome ?? {};
  const text =
    event.label ??
    event.message ??
    outcome.code ??
    outcome.is ??
    event.model ??
    event.strategy ??
    event.source ??
    event.what ??
    '';
  return plain(typeof text === 'object' ? (text.name ?? '') : text).slice(0, 160);
}
