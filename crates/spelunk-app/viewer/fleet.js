// Fleet: the nodes of the server's fleet, its queue, and which node works on which run.

import { el, fill } from './dom.js';
import { failurePage, statePage } from './states.js';
import { count, shortName } from './units.js';

const REFRESH_MS = 2000;

/** The page. It has `element` and `dispose()`. */
export function fleetPage({ origin }) {
  const body = el('div', {});
  const element = el(
    'section',
    { 'aria-labelledby': 'fleet-title' },
    el('div', { class: 'page-head' }, el('h1', { id: 'fleet-title' }, 'Fleet')),
    body,
  );
  const load = async () => {
    try {
      fill(body, shown(await origin.fleet()));
    } catch (error) {
      if (error.status !== 404) return fill(body, failurePage(error, load));
      const text = ['Start it with ', el('code', {}, 'spelunk serve --fleet URL'), ' to share runs with other machines.'];
      fill(body, statePage('This server belongs to no fleet', text));
    }
  };
  const timer = setInterval(load, REFRESH_MS);
  load();
  return { element, dispose: () => clearInterval(timer) };
}

function shown(fleet) {
  const copies = fleet.replicas > 1 ? `${fleet.replicas} copies of each` : 'one copy of each';
  return [
    el('p', {}, `${fleet.queued} queued, ${fleet.in_progress} in progress; ${count(fleet.runs, 'run')}, ${copies}.`),
    table(
      'Nodes',
      ['Node', 'Role', 'Running', 'Version'],
      Object.entries(fleet.nodes).map(([name, node]) => [name, node.role, `${node.running} of ${node.slots}`, node.version]),
    ),
    table(
      'Runs in progress',
      ['Run', 'Node'],
      Object.entries(fleet.leases).map(([run, node]) => [
        el('a', { class: 'row-link', href: `#/run/${run}` }, shortName(run)),
        node,
      ]),
    ),
  ];
}

function table(title, head, rows) {
  return el(
    'section',
    {},
    el('h2', {}, title),
    rows.length === 0
      ? el('p', { class: 'empty' }, 'None.')
      : el(
          'table',
          { class: 'run-table' },
          el('caption', { class: 'unseen' }, title),
          el('thead', {}, el('tr', {}, head.map((name) => el('th', { scope: 'col' }, name)))),
          el('tbody', {}, rows.map((cells) => el('tr', {}, cells.map((cell) => el('td', {}, cell))))),
        ),
  );
}
