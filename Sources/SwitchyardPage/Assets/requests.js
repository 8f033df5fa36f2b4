// Requests as they arrive, why each was answered as it was, and faults.

import { h, button, clock, count, fill, field, icon, milliseconds, paced, plural, select, settled, size } from './dom.js';
import { ask, actAs, can, state, go, replacePlace } from './state.js';
import { Grid, put, putNode } from './grid.js';
import { on, onceOpened } from './events.js';
import { explanation, verdict } from './explain.js';
import { failed, nothing, toast, wrongBox } from './dialogs.js';
import { FaultsPanel } from './faults.js';

const most = 2000;

export const whoName = who => !who ? '' : who.kind === 'project' ? 'project' : who.kind === 'signedOut' ? 'signed out' : who.kind === 'anonymous' ? `anonymous ${short(who.id)}` : who.name || who.email || short(who.id);
const short = id => id && id.length > 22 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id ?? '';

export class RequestsView {
    title = 'Requests';

    constructor() {
        this.all = [];
        this.byNumber = new Map();
        this.shown = [];
        this.filter = { text: '', service: '', outcome: '' };
        this.redraw = paced(() => this.draw());
        this.affected = settled(200, () => { if (!this.faults.element.hidden) this.faults.load(); });
        this.reread = settled(400, () => { if (!this.isPaused) this.load(); });
        this.search = h('input', { type: 'search', placeholder: 'Filter', 'aria-label': 'Filter requests', oninput: event => { this.filter.text = event.target.value.toLowerCase(); this.apply(); } });
        this.service = select([['', 'All services'], 'storage', 'auth', 'files', 'messaging', 'realtime', 'functions'], '', value => { this.filter.service = value; this.apply(); }, { 'aria-label': 'Service' });
        this.outcome = select([['', 'All answers'], ['denied', 'Denied by rules'], ['failed', 'Failed'], ['slow', 'Slower than 100 ms']], '', value => { this.filter.outcome = value; this.apply(); }, { 'aria-label': 'Answer' });
        this.status = h('span.list-count', { role: 'status' });
        this.pauseButton = button('', () => this.pause(), { kind: 'quiet square', icon: 'pause', label: 'Pause the list', key: 'p' });
        this.grid = new Grid({
            label: 'Requests', columns: this.columnsFor(1200), draw: (cells, index, row) => this.drawRow(cells, index, row),
            onopen: index => go('requests', [String(this.shown[index].n)]), onactive: index => this.moved(index),
            empty: nothing('No requests yet', 'They appear here as they arrive.'),
        });
        this.detail = h('section.panel', { 'aria-label': 'Request', hidden: true, onkeydown: event => { if (event.key === 'Escape') { event.preventDefault(); go('requests'); this.grid.element.focus(); } } });
        this.faults = new FaultsPanel({ onclose: () => this.showFaults(false) });
        this.faultsButton = button('Faults', () => this.showFaults(this.faults.element.hidden), { kind: 'small', icon: 'faults', 'aria-expanded': 'false' });
        this.element = h('div.panes.requests', { 'data-shows': 'list' },
            h('section.list', { 'aria-label': 'Requests' },
                h('header.list-head', h('h1.list-title', 'Requests'), h('span.live', 'live'), this.status, h('span.grow'), this.pauseButton,
                    button('', () => this.clear(), { kind: 'quiet square', icon: 'trash', label: 'Clear the list' }), can('faults') ? this.faultsButton : null),
                h('div.query', icon('search'), this.search, this.service, this.outcome),
                can('faults') ? this.faults.element : null,
                this.grid.element),
            this.detail);
        this.sizes = new ResizeObserver(([entry]) => {
            const kind = entry.contentRect.width < 560 ? 'narrow' : entry.contentRect.width < 820 ? 'middle' : 'wide';
            if (kind === this.width) return;
            this.width = kind;
            this.grid.setColumns(this.columnsFor(entry.contentRect.width));
        });
        this.sizes.observe(this.grid.element);
    }

    columnsFor(width) {
        const all = {
            at: { id: 'at', title: 'Time', width: '74px' }, who: { id: 'who', title: 'Who', width: 'minmax(84px, 150px)' }, what: { id: 'what', title: 'What', width: 'minmax(140px, 2fr)' },
            method: { id: 'method', title: 'Request', width: 'minmax(120px, 1.6fr)' }, decision: { id: 'decision', title: 'Rules', width: '92px' },
            status: { id: 'status', title: 'Answer', width: '64px', isNumber: true }, took: { id: 'took', title: 'Took', width: '74px', isNumber: true }, size: { id: 'size', title: 'Size', width: '72px', isNumber: true },
        };
        const names = width < 560 ? ['what', 'decision', 'status'] : width < 820 ? ['at', 'who', 'what', 'decision', 'status', 'took'] : ['at', 'who', 'what', 'method', 'decision', 'status', 'took', 'size'];
        return names.map(name => all[name]);
    }

    async start() {
        this.stops = [
            on('request', event => this.arrived(event)),
            on('gap', () => this.load()),
            on('request', event => { if (event.fault) this.affected(); }),
            on('faults', () => this.faults.load()),
            on('reset', event => { if (event.backend === state.backend.id) this.load(); }),
        ];
        onceOpened(() => this.load());
        await this.load();
        this.faults.load();
    }

    stop() {
        for (const stop of this.stops) stop();
        this.grid.close();
        this.sizes.disconnect();
    }

    async load() {
        try {
            const { requests } = await ask('GET', 'requests?limit=200');
            for (const request of requests) this.byNumber.set(Number(request.n), request);
            this.sortAll();
            this.apply();
        } catch (error) {
            fill(this.grid.blank, wrongBox(error, () => this.load()));
            this.grid.setTotal(0);
        }
    }

    sortAll() {
        this.all = [...this.byNumber.values()].sort((one, other) => Number(other.n) - Number(one.n)).slice(0, most);
        this.byNumber = new Map(this.all.map(request => [Number(request.n), request]));
    }

    arrived(event) {
        if (event.backend !== state.backend.id) return;
        // More happened than was told one by one.
        if (event.missed) return this.reread();
        const number = Number(event.n);
        const known = this.byNumber.get(number);
        this.byNumber.set(number, event);
        if (known) Object.assign(known, event), this.byNumber.set(number, known);
        else if (!this.all.length || number > Number(this.all[0].n)) this.all.unshift(event);
        else { this.sortAll(); }
        if (this.all.length > most + 200) this.sortAll();
        if (this.isPaused) { this.waiting = (this.waiting ?? 0) + (known ? 0 : 1); return this.drawStatus(); }
        this.isStale = true;
        this.redraw();
        if (this.open === number && event.status !== undefined && event.status !== null) this.loadDetail(number);
    }

    matches(request) {
        const { text, service, outcome } = this.filter;
        if (service && request.service !== service) return false;
        if (outcome === 'denied' && request.decision?.allowed !== false) return false;
        if (outcome === 'failed' && !(request.status >= 400)) return false;
        if (outcome === 'slow' && !(request.milliseconds > 100)) return false;
        return !text || `${request.what} ${request.method} ${request.path} ${whoName(request.who)} ${request.who?.id ?? ''} ${request.status}`.toLowerCase().includes(text);
    }

    apply() {
        const active = this.shown[this.grid.active]?.n;
        this.shown = this.all.filter(request => this.matches(request));
        fill(this.grid.blank, this.all.length ? nothing('No request matches the filter') : nothing('No requests yet', `Send one to ${state.backend.address ?? 'the server'}, and it appears here.`));
        const place = active === undefined ? -1 : this.shown.findIndex(request => request.n === active);
        this.grid.active = place;
        this.grid.setTotal(this.shown.length);
        this.drawStatus();
    }

    draw() {
        if (!this.isStale) return;
        this.isStale = false;
        // Who has scrolled down reads: the list stays where it is under their eyes.
        const before = this.shown.length;
        const top = this.grid.element.scrollTop;
        this.apply();
        if (top > 0 && this.shown.length > before) this.grid.element.scrollTop = top + (this.shown.length - before) * this.grid.rowHeight;
    }

    drawStatus() {
        fill(this.status, this.isPaused ? `paused, ${plural(this.waiting ?? 0, 'new one')}` : this.shown.length === this.all.length ? plural(this.all.length, 'request') : `${count(this.shown.length)} of ${count(this.all.length)}`);
    }

    drawRow(cells, index, row) {
        const request = this.shown[index];
        if (!request) return;
        row.dataset.key = String(request.n);
        const isRunning = request.status === null || request.status === undefined;
        row.classList.toggle('running', isRunning);
        row.classList.toggle('denied', request.decision?.allowed === false);
        this.grid.columns.forEach((column, place) => {
            const cell = cells[place];
            switch (column.id) {
            case 'at': return put(cell, clock(request.at), { className: 'dim mono' });
            case 'who': return put(cell, whoName(request.who), { className: `who-${request.who?.kind}`, title: request.who?.id });
            case 'what': return put(cell, request.what || request.path, { className: 'what' });
            case 'method': return put(cell, `${request.method} ${request.path}`, { className: 'dim mono', title: `${request.method} ${request.path}` });
            case 'decision': return request.decision ? putNode(cell, verdict(request.decision)) : put(cell, '');
            case 'status': return put(cell, isRunning ? '…' : String(request.status), { className: `number status-${Math.floor((request.status ?? 0) / 100)}` });
            case 'took': return put(cell, milliseconds(request.milliseconds), { className: `number ${request.milliseconds > 100 ? 'slow' : 'dim'}` });
            default: return put(cell, size(request.size), { className: 'number dim' });
            }
        });
    }

    pause() {
        this.isPaused = !this.isPaused;
        fill(this.pauseButton, icon(this.isPaused ? 'play' : 'pause'));
        this.pauseButton.setAttribute('aria-label', this.isPaused ? 'Go on' : 'Pause the list');
        this.pauseButton.setAttribute('aria-pressed', String(this.isPaused));
        this.waiting = 0;
        if (!this.isPaused) this.sortAll();
        this.apply();
    }

    clear() {
        this.all = [];
        this.byNumber.clear();
        this.apply();
    }

    showFaults(isShown) {
        this.faults.element.hidden = !isShown;
        this.faultsButton.setAttribute('aria-expanded', String(isShown));
        if (isShown) this.faults.load();
    }

    // MARK: One request

    /// With a request open beside the list, the arrows go through the requests.
    moved(index) {
        if (!this.open || matchMedia('(max-width: 760px)').matches) return;
        replacePlace('requests', [String(this.shown[index].n)]);
        this.show(state.rest);
    }

    show(rest) {
        const number = rest[0] ? Number(rest[0]) : null;
        this.element.dataset.shows = number ? 'detail' : 'list';
        if (number === this.open) return;
        this.open = number;
        this.detail.hidden = !number;
        if (!number) return;
        fill(this.detail, h('p.quiet-text', 'Loading…'));
        this.loadDetail(number);
    }

    async loadDetail(number) {
        try {
            const request = await ask('GET', `requests/${number}`);
            if (this.open !== number) return;
            this.drawDetail(request);
            const place = this.shown.findIndex(found => Number(found.n) === number);
            if (place >= 0 && place !== this.grid.active) this.grid.setActive(place, { isQuiet: true });
        } catch (error) {
            if (this.open === number) fill(this.detail, h('header.panel-head', h('div.panel-title', h('h2', `Request ${number}`), h('span.grow'), button('', () => go('requests'), { kind: 'quiet square', icon: 'close', label: 'Close' }))), wrongBox(error, () => this.loadDetail(number)));
        }
    }

    drawDetail(request) {
        const isRunning = request.status === null || request.status === undefined;
        const fact = (name, ...value) => h('div', h('dt', name), h('dd', value));
        const scroll = this.detail.querySelector('.panel-body')?.scrollTop ?? 0;
        fill(this.detail,
            h('header.panel-head', h('div.panel-title',
                button('', () => go('requests'), { kind: 'quiet square back', icon: 'back', label: 'Back to the list' }),
                h('h2', request.what || `${request.method} ${request.path}`), h('span.grow'),
                h('div.panel-actions',
                    request.canReplay === false ? null : button('Replay', () => this.replay(request), { kind: 'small', icon: 'replay', label: 'Send this request once more', key: 'x' }),
                    button('', () => go('requests'), { kind: 'quiet square', icon: 'close', label: 'Close', key: 'Escape' })))),
            h('div.panel-body',
                h('dl.facts',
                    fact('Who', whoName(request.who), request.who?.kind === 'user' && request.who.id && can('actAs') ? button('Act as', () => { actAs({ user: request.who.id, name: whoName(request.who) }); toast(`This tab acts as ${whoName(request.who)}`); }, { kind: 'small quiet', icon: 'mask' }) : null),
                    fact('Answer', isRunning ? 'running' : String(request.status)), fact('Took', milliseconds(request.milliseconds)), fact('Size', size(request.size) || '0 B'),
                    fact('At', clock(request.at, { hasMilliseconds: true })), fact('Service', request.service ?? '—'),
                    request.fault ? fact('Fault', typeof request.fault === 'string' ? request.fault : request.fault.fault ?? 'injected') : null),
                request.claims && Object.keys(request.claims).length ? h('details', h('summary', 'Claims of the caller'), h('pre.body', h('code', JSON.stringify(request.claims, null, 2)))) : null,
                h('p.request-line.mono', h('strong', request.method), ' ', request.path),
                h('section', h('h3', 'Who decided, and why'), explanation(request.explanation ? { ...request.explanation, allowed: request.explanation.allowed ?? request.decision?.allowed } : null)),
                this.message('Request', request.requestHeaders, request.requestBody),
                this.message('Answer', request.responseHeaders, request.responseBody, isRunning)));
        this.detail.querySelector('.panel-body').scrollTop = scroll;
    }

    message(title, headers, body, isRunning) {
        const lines = Array.isArray(headers) ? headers.map(header => Array.isArray(header) ? header : [header.name, header.value]) : Object.entries(headers ?? {});
        const content = typeof body === 'object' && body !== null && 'text' in body ? body.text : body;
        const cut = body?.truncated;
        let text = content === null || content === undefined ? '' : typeof content === 'string' ? content : JSON.stringify(content, null, 2);
        try { if (typeof content === 'string' && /^[[{]/.test(content.trim())) text = JSON.stringify(JSON.parse(content), null, 2); } catch { /* It stays as it came. */ }
        return h('section', h('h3', title),
            h('details', h('summary', plural(lines.length, 'header')), h('table.headers', h('tbody', lines.map(([name, value]) => h('tr', h('th', { scope: 'row' }, name), h('td', String(value))))))),
            text ? h('pre.body', { tabindex: '0', 'aria-label': `Body of the ${title.toLowerCase()}` }, h('code', text)) : h('p.quiet-text', isRunning ? 'Not answered yet.' : body?.isBinary ? `${size(body.size)} that are no text` : 'No body.'),
            cut ? h('p.hint', `Only the beginning is kept, of ${size(body.size)}.`) : null);
    }

    async replay(request) {
        try {
            const answer = await ask('POST', `requests/${request.n}/replay`, {});
            const number = Number(answer.n);
            toast(`Sent again as request ${number}`, { seconds: 4 });
            go('requests', [String(number)]);
        } catch (error) { failed('The replay failed', error); }
    }

    /// Esc closes what is open, wherever the focus is.
    escape() {
        if (!this.open) return;
        go('requests');
        this.grid.element.focus();
    }

    keys = [
        ['/', 'Filter', () => this.search.focus()],
        ['p', 'Pause the list', () => this.pause()],
        ['x', 'Replay the open request', () => { if (this.open) this.replay({ n: this.open }); }],
        ['f', 'Faults', () => this.showFaults(this.faults.element.hidden)],
    ];
}
