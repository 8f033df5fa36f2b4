// The shell: head, views, keys.

import { $, button, fill, h, icon, paced, say, select } from './dom.js';
import { call, setKey } from './api.js';
import { connection, on, onState, start as startEvents } from './events.js';
import { actingName, address, can, changed, forgetSteps, go, lastStep, loadActing, readPlace, site, state, when, ask } from './state.js';
import { confirm, dialog, failed, menu, nothing, toast, wrongBox } from './dialogs.js';
import { performUndo } from './undo.js';
import { chooseActing } from './acting.js';
import { DataView } from './data.js';
import { RequestsView } from './requests.js';
import { OutboxView } from './outbox.js';
import { AccountsView } from './accounts.js';
import { FilesView } from './files.js';
import { MessagesView } from './messages.js';
import { ConnectedView } from './connected.js';

const views = [
    { id: 'data', title: 'Data', key: 'd', make: DataView, needs: 'data' },
    { id: 'requests', title: 'Requests', key: 'r', make: RequestsView, needs: 'requests' },
    { id: 'app', title: 'App', key: 'a', make: ConnectedView },
    { id: 'outbox', title: 'Outbox', key: 'o', make: OutboxView, needs: 'outbox' },
    { id: 'accounts', title: 'Accounts', key: 'c', make: AccountsView, needs: 'accounts' },
    { id: 'files', title: 'Files', key: 'f', make: FilesView, needs: 'files' },
    { id: 'messages', title: 'Messages', key: 'm', make: MessagesView, needs: 'messages' },
];

let current = null;

// MARK: The head

const live = h('span.dot', { role: 'status', 'aria-label': 'Connecting' });
const liveText = h('span.dot-text', 'connecting');
const actingButton = h('button.acting', { type: 'button', 'aria-haspopup': 'dialog', onclick: () => chooseActing() });
const undoButton = button('', () => performUndo(), { kind: 'quiet square', icon: 'undo', label: 'Undo', key: 'Control+Z', disabled: true });
const themeButton = button('', () => nextTheme(), { kind: 'quiet square', icon: 'auto', label: 'Light or dark' });
const moreButton = button('', () => showMenu(), { kind: 'quiet square', icon: 'more', label: 'More', 'aria-haspopup': 'menu', 'aria-expanded': 'false' });

function mark() {
    return h('svg.mark', { viewBox: '0 0 32 32', 'aria-hidden': 'true' },
        h('path', { d: 'M4 23h24M4 23c10 0 10-13 22-13' }), h('circle', { cx: '26', cy: '10', r: '3.4' }));
}

function drawHead() {
    const chooser = site.backends.length > 1
        ? select(site.backends.map(backend => [backend.id, backend.name]), state.backend?.id, id => { location.hash = address(state.view, [], {}, id); }, { 'aria-label': 'Backend', class: 'backend' })
        : h('span.backend-name', state.backend?.name ?? '');
    fill($('.head'),
        h('a.brand', { href: address('data'), 'aria-label': 'Switchyard, to the data' }, mark(), h('span', 'Switchyard')),
        chooser,
        h('span.address', { title: 'The address of this backend' }, state.backend?.address ?? ''),
        h('span.grow'),
        h('span.connection', live, liveText),
        actingButton, undoButton, themeButton, moreButton);
    drawActing();
}

function drawActing() {
    const acting = state.acting;
    document.documentElement.dataset.acting = !acting ? 'project' : acting.signedOut ? 'signed-out' : 'user';
    fill(actingButton, icon(acting ? 'mask' : 'lock'), h('span.acting-label', 'Act as'), h('span.acting-name', actingName()),
        acting?.assurance ? h('span.acting-level', acting.assurance) : null, icon('down'));
    actingButton.setAttribute('aria-label', `Act as: ${actingName()}`);
    actingButton.hidden = !state.backend || !can('actAs');
}

function drawRail() {
    fill($('.rail'), h('ul', views.filter(view => !view.needs || can(view.needs)).map(view => h('li',
        h('a', {
            href: address(view.id), 'aria-current': state.view === view.id ? 'page' : null, title: `${view.title} (g ${view.key})`, 'data-view': view.id,
        }, icon(view.id), h('span', view.title), h('span.badge', { hidden: true, 'data-badge': view.id }))))));
}

// What has come while another view was open: its number stands beside the name of the view.
const unseen = { outbox: 0, requests: 0 };
const drawUnseen = paced(() => {
    for (const [view, number] of Object.entries(unseen)) {
        const element = $(`[data-badge="${view}"]`);
        if (!element) continue;
        element.hidden = !number;
        element.textContent = number > 99 ? '99+' : String(number);
        element.title = view === 'requests' ? 'Denied since you looked' : 'New since you looked';
    }
});
function count(view, event) {
    if (event.backend !== state.backend?.id || state.view === view) return;
    unseen[view] += 1;
    drawUnseen();
}
on('outbox', event => count('outbox', event));
on('request', event => { if (event.decision?.allowed === false && event.phase !== 'waiting' && event.status) count('requests', event); });

function drawConnection() {
    const words = { open: 'live', connecting: 'connecting', lost: 'connection lost' }[connection.state] ?? connection.state;
    live.dataset.state = connection.state;
    live.setAttribute('aria-label', words);
    liveText.textContent = words;
    live.parentElement?.setAttribute('title', connection.tabs > 1 ? `One stream for ${connection.tabs} tabs` : 'One stream for all tabs');
    document.documentElement.dataset.connection = connection.state;
    document.documentElement.dataset.tabs = String(connection.tabs);
}

// MARK: Light and dark

const themes = ['auto', 'light', 'dark'];
function setTheme(theme) {
    document.documentElement.dataset.theme = theme;
    const shape = { auto: 'auto', light: 'sun', dark: 'moon' }[theme];
    fill(themeButton, icon(shape));
    themeButton.setAttribute('aria-label', `Appearance: ${theme === 'auto' ? 'as the system' : theme}`);
    themeButton.title = `Appearance: ${theme === 'auto' ? 'as the system' : theme} (t)`;
}
function nextTheme() {
    const now = document.documentElement.dataset.theme;
    const next = themes[(themes.indexOf(now) + 1) % themes.length];
    localStorage.setItem('theme', next);
    setTheme(next);
    say(`Appearance: ${next}`);
}

// MARK: Menu

function showMenu() {
    menu(moreButton, [
        { text: 'Keyboard shortcuts', icon: 'keys', key: '?', run: showKeys },
        can('reset') ? '-' : null,
        can('reset') ? { text: `Reset ${state.backend?.name ?? 'the project'}…`, icon: 'reset', kind: 'danger', run: askReset } : null,
    ]);
}

function askReset() {
    confirm(`Reset ${state.backend.name}?`, 'All documents, accounts, files and messages of this local project are gone at once. Apps stay connected and see it empty.', 'Reset', async () => {
        const started = performance.now();
        await ask('POST', 'reset', {});
        const took = performance.now() - started;
        forgetSteps();
        toast(`Reset in ${took < 10 ? took.toFixed(1) : Math.round(took)} ms`);
    });
}

// MARK: Keys

const usesLetters = () => localStorage.getItem('letters') !== 'off';

function shared() {
    return [
        ['?', 'This list', showKeys],
        ['a', 'Act as', chooseActing],
        ['t', 'Light, dark, or as the system', nextTheme],
        ['u', 'Undo (also Control+Z)', performUndo],
    ];
}

function showKeys() {
    const row = (keys, text) => h('tr', h('td', keys.split(' ').map(key => h('kbd', key))), h('td', text));
    const box = h('input', { type: 'checkbox', id: 'letters', checked: usesLetters(), onchange: event => localStorage.setItem('letters', event.target.checked ? 'on' : 'off') });
    dialog('Keyboard shortcuts', [
        h('div.keys',
            h('section', h('h3', 'Everywhere'), h('table', h('tbody', shared().map(([key, text]) => row(key, text)), views.filter(view => !view.needs || can(view.needs)).map(view => row(`g ${view.key}`, view.title))))),
            h('section', h('h3', current?.title ?? 'Here'), h('table', h('tbody', (current?.keys ?? []).map(([key, text]) => row(key, text)),
                row('↑ ↓', 'Move in a list; also j and k'), row('Enter', 'Open'), row('Space', 'Mark'), row('Delete', 'Delete'), row('Control+S', 'Save'), row('Esc', 'Close'))))),
        h('label.check', { for: 'letters' }, box, 'Shortcuts of single letters'),
    ], [], { isWide: true });
}

let isGoing = 0;
addEventListener('keydown', event => {
    if (event.defaultPrevented || document.querySelector('dialog[open]')) return;
    const isTyping = event.target.closest?.('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]');
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'z' && !event.shiftKey && !isTyping) {
        event.preventDefault();
        return performUndo();
    }
    if (event.key === 'Escape' && !isTyping) return current?.view.escape?.();
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping || !usesLetters()) return;
    if (isGoing && Date.now() - isGoing < 1500) {
        isGoing = 0;
        const view = views.find(view => view.key === event.key);
        if (view) { event.preventDefault(); go(view.id); }
        return;
    }
    if (event.key === 'g') { isGoing = Date.now(); return; }
    const all = [...(current?.keys ?? []), ...shared()];
    const found = all.find(([key]) => key === event.key);
    if (!found) return;
    event.preventDefault();
    found[2]();
});

// MARK: Places

function showPlace() {
    readPlace();
    if (!state.backend) return;
    const view = views.find(view => view.id === state.view && (!view.needs || can(view.needs))) ?? views[0];
    state.view = view.id;
    drawHead();
    drawRail();
    if (current?.id !== view.id || current.backend !== state.backend.id) {
        current?.view.stop?.();
        const made = new view.make();
        current = { id: view.id, backend: state.backend.id, view: made, title: view.title, get keys() { return made.keys ?? []; } };
        fill($('#view'), made.element);
        document.title = `${view.title} · ${state.backend.name} · Switchyard`;
        made.start?.();
    }
    document.documentElement.dataset.view = view.id;
    current.view.show?.(state.rest, state.parameters);
    if (view.id in unseen) unseen[view.id] = 0;
    drawUnseen();
}

async function load() {
    try {
        Object.assign(site, await call('GET', 'site'));
    } catch (error) {
        if (error.status === 401) return askKey(error);
        fill($('#view'), h('div.whole', wrongBox(error, load)));
        setTimeout(() => { if (!site.backends.length) load(); }, 2000);
        return;
    }
    if (!site.backends.length) return fill($('#view'), h('div.whole', nothing('No backend', 'The command that serves this page has none.')));
    loadActing();
    readPlace();
    if (!location.hash || location.hash === '#/') history.replaceState(null, '', address('data'));
    showPlace();
    document.documentElement.dataset.ready = 'true';
}

/// `switchyard page` prints an address with a key, which a tab opened by hand does not have.
function askKey(error) {
    const input = h('input.mono', { id: 'key', autocomplete: 'off', spellcheck: 'false' });
    fill($('#view'), h('div.whole', h('form.keyform', {
        onsubmit: event => {
            event.preventDefault();
            const text = input.value.trim();
            setKey(new URLSearchParams(text.split('#')[1] ?? '').get('key') ?? text);
            load();
        },
    }, h('h1', 'This page has a key'), h('p', error.message), h('label', { for: 'key' }, 'The address that the command printed, or its key'), input, h('button.primary', { type: 'submit' }, 'Open'))));
    input.focus();
}

setTheme(localStorage.getItem('theme') ?? 'auto');
startEvents();
onState(drawConnection);
drawConnection();
when('acting', drawActing);
when('place', showPlace);
when('undo', () => {
    const step = lastStep();
    undoButton.disabled = !step;
    undoButton.title = step ? `Undo: ${step.label} (Control+Z)` : 'Nothing to undo';
});
addEventListener('hashchange', showPlace);
addEventListener('keychanged', () => { if (!site.backends.length) load(); });
addEventListener('undone', () => current?.view.undone?.());
load();
