// The connected app: what it knows of itself, as its observer reports it.

import { h, clock, time, count, fill, icon, paced, plural, since, size, select } from './dom.js';
import { call } from './api.js';
import { on, onceOpened, turns } from './events.js';
import { nothing, wrongBox } from './dialogs.js';

export class ConnectedView {
    title = 'App';

    constructor() {
        this.turn = turns();
        this.apps = new Map();
        /// The apps of which the stream has told since the last read began: it knows more of them than the answer.
        this.told = new Set();
        this.redraw = paced(() => this.draw());
        this.body = h('div.app-body');
        this.status = h('span.list-count', { role: 'status' });
        this.chooser = h('span');
        this.element = h('div.panes.single', h('section.list', { 'aria-label': 'The connected app' },
            h('header.list-head', h('h1.list-title', 'App'), this.status, h('span.grow'), this.chooser), h('div.scroll', this.body)));
    }

    start() {
        this.stops = [on('app', event => {
            if (event.state) this.apps.set(event.app, event); else this.apps.delete(event.app);
            this.told.add(event.app);
            this.redraw();
        }), on('gap', () => this.load())];
        this.ticker = setInterval(() => this.redraw(), 5000);
        onceOpened(() => this.load());
        this.load();
    }

    stop() {
        for (const stop of this.stops) stop();
        clearInterval(this.ticker);
    }

    async load() {
        try {
            const isLast = this.turn();
            const told = this.told = new Set();
            const { apps } = await call('GET', 'apps');
            if (!isLast()) return;
            const read = new Map(apps.map(app => [app.app, app]));
            for (const id of told) {
                if (this.apps.has(id)) read.set(id, this.apps.get(id)); else read.delete(id);
            }
            this.apps = read;
            this.draw();
        } catch (error) { fill(this.body, wrongBox(error, () => this.load())); }
    }

    draw() {
        const all = [...this.apps.values()];
        if (!all.length) {
            fill(this.status);
            return fill(this.body, nothing('No app is connected', 'In development, an app can report what it is doing to this page:',
                h('pre.rule', h('code', `infrastructure.report(to: "${location.origin}")`)), h('p.quiet-text', 'Its services, live queries, pending writes, transfers and errors then appear here. Off unless an app asks for it.')));
        }
        if (!this.apps.has(this.chosen)) this.chosen = all.at(-1).app;
        const app = this.apps.get(this.chosen);
        const seen = time(app.seenAt);
        const isStale = seen && Date.now() - seen.getTime() > 15000;
        fill(this.chooser, all.length > 1 ? select(all.map(app => [app.app, `${app.name} · ${String(app.app).slice(0, 6)}`]), this.chosen, id => { this.chosen = id; this.draw(); }, { 'aria-label': 'Which app' }) : null);
        fill(this.status, h('span', { class: isStale ? 'chip warn' : 'chip good' }, isStale ? `silent for ${since(app.seenAt)}` : 'connected'), ` ${app.name}${app.since ? `, since ${clock(app.since)}` : ''}`);
        const made = app.state ?? {};
        const card = (title, number, ...content) => h('section.app-card', { 'aria-label': title }, h('h2', title, number ? h('span.badge', String(number)) : null), content);
        const list = (items, empty, line) => items?.length ? h('ul.rows', items.map(line)) : h('p.quiet-text', empty);
        const stateChip = (word, kind) => h('span.chip', { class: kind }, word);
        const line = (title, chip, ...more) => h('li.entry', h('div.entry-head', h('span.grow', title), chip), more.flat().filter(Boolean).map(part => part instanceof Node ? part : h('span.quiet-text', part)));
        const bar = (label, done, total) => h('progress', { max: String(total || 1), value: done ?? 0, 'aria-label': label });
        const age = since0 => since0 ? `for ${since(since0)}` : null;
        fill(this.body,
            card('Services', 0, list(made.services, 'None', service => line(h('strong', service.service), [service.switching
                ? h('span.chip.warn', `switching to ${typeof service.switching === 'string' ? service.switching : service.switching.to ?? '…'}`) : null, h('code', service.provider)]))),
            card('Live queries', made.live?.length, list(made.live, 'No live query is open.', live => line(h('code', live.target), stateChip(live.state, { live: 'good', cached: 'warn', waiting: 'warn', failed: 'bad' }[live.state] ?? ''),
                [live.documents !== undefined && live.documents !== null ? plural(live.documents, 'document') : null, age(live.since)].filter(Boolean).join(', '), live.error ? h('span.bad-text', live.error) : null))),
            card('Writes', made.writes?.length, list(made.writes, 'Nothing waits to be sent.', write => line([h('strong', write.kind), ' ', h('code', write.path)], stateChip(write.state, { refused: 'bad', sending: 'good' }[write.state] ?? 'warn'),
                age(write.since), write.reason ? h('span.bad-text', write.reason) : null))),
            card('Transfers', made.transfers?.length, list(made.transfers, 'No file is on its way.', transfer => line([icon(transfer.direction === 'upload' ? 'upload' : 'download'), ' ', h('code', transfer.path)], h('span.chip', transfer.state),
                bar(transfer.path, transfer.done, transfer.total), `${size(transfer.done)} of ${size(transfer.total)}`))),
            card('Switches and moves', made.moves?.length, list(made.moves, 'None is running.', move => typeof move === 'string' ? line(move) : line(h('strong', move.name ?? move.what ?? 'Move'), h('span.chip', move.phase ?? move.state ?? 'running'),
                move.total ? [bar('Progress of the move', move.done, move.total), `${count(move.done ?? 0)} of ${count(move.total)}`] : null))),
            card('Last errors', made.errors?.length, list(made.errors, 'None', error => line([h('strong', error.operation), ' ', h('code', error.target ?? '')], h('time.quiet-text', clock(error.at)), h('span.bad-text', error.message)))));
    }
}
