// The documents of a query, page by page: what is in sight is read, what is far away is let go.

import { ask, sentActing, state } from './state.js';
import { on, opened } from './events.js';
import { settled } from './dom.js';

export const pageSize = 100;
const mostPages = 60;
const isWrite = /\b(set|add|update|delete|merge|write|commit|batch|insert|upsert|patch)/i;

export class Source {
    /// `onchange()` when rows can be drawn again, `onfailure(error)`, `ontouch(paths)` for documents that changed on the server.
    constructor({ collection, isGroup, text, onchange, onfailure, ontouch }) {
        Object.assign(this, { collection, isGroup, text, onchange, onfailure, ontouch });
        this.pages = new Map();
        this.loading = new Map();
        this.total = null;
        this.known = 0;
        this.isLive = false;
        this.fresh = new Map();
        this.generation = 0;
        this.watch = crypto.randomUUID?.() ?? `w${Math.random()}`;
        this.abort = new AbortController();
        this.recount = throttled(1000, () => this.count());
        this.reread = throttled(700, () => this.readAgain());
        this.stops = [
            on('data', event => this.received(event)),
            on('request', event => {
                if (event.backend !== state.backend?.id) return;
                if (event.missed || event.service === 'storage' && event.status !== null && event.status !== undefined && isWrite.test(`${event.what}`)) this.touched();
            }),
            on('gap', () => { this.touched(); if (this.isWatching) this.follow(); }),
            leaving(() => this.stopWatching()),
            on('reset', event => { if (!event.backend || event.backend === state.backend?.id) this.touched(); }),
        ];
    }

    get input() { return { collection: this.collection, isGroup: this.isGroup, text: this.text, as: sentActing() }; }

    async start() {
        const first = this.load(0);
        const counted = this.count();
        await first;
        await counted;
        if (this.isEnded || this.failure) return;
        await this.follow();
        this.onchange();
    }

    /// Asks for the live window, once the stream is there to bring it. Asked again, it begins again.
    async follow() {
        await opened();
        if (this.isEnded) return;
        try {
            await ask('POST', 'watch', { watch: this.watch, ...this.input }, { signal: this.abort.signal });
            this.isWatching = true;
            if (this.isEnded) this.stopWatching();
        } catch { /* Without a live window, the list is read again when something is written. */ }
    }

    stopWatching() {
        // Also when the tab closes: the request outlives it.
        if (this.isWatching) ask('DELETE', `watch/${encodeURIComponent(this.watch)}`, undefined, { isLast: true }).catch(() => {});
        this.isWatching = false;
    }

    end() {
        this.isEnded = true;
        for (const stop of this.stops) stop();
        this.recount.cancel();
        this.reread.cancel();
        this.abort.abort();
        this.stopWatching();
    }

    async count() {
        try {
            const { count } = await ask('POST', 'count', this.input, { signal: this.abort.signal });
            // What is live is newer than an answer to a question asked before.
            if (this.isLive && this.isWhole) return;
            this.total = Number(count);
            this.settle();
            this.onchange();
        } catch (error) {
            if (error.name !== 'AbortError') this.countFailure = error;
        }
    }

    /// How long the list is, as far as is known.
    get length() {
        return this.total ?? this.known + (this.hasMore ? 1 : 0);
    }

    settle() {
        for (const page of this.pages.keys()) if (page * pageSize >= this.length) this.pages.delete(page);
    }

    at(index) { return this.pages.get(Math.floor(index / pageSize))?.documents[index % pageSize] ?? null; }

    find(path) {
        for (const [page, { documents }] of this.pages) {
            const place = documents.findIndex(document => document.path === path);
            if (place >= 0) return { index: page * pageSize + place, document: documents[place] };
        }
        return null;
    }

    see(first, last) {
        this.sight = [first, last];
        this.wanted ??= settled(60, () => this.readSight());
        // At once where the list stands; a moving scroll bar waits. One read at a time: the next one is for what is in sight then.
        const pages = this.pagesIn(first, last).filter(page => !this.pages.has(page) && !this.loading.has(page));
        if (!pages.length || this.loading.size > 0) return;
        if (performance.now() - (this.lastAsked ?? 0) > 120) this.readSight();
        else this.wanted();
        this.lastAsked = performance.now();
    }

    pagesIn(first, last) {
        const pages = [];
        for (let page = Math.floor(Math.max(0, first) / pageSize); page <= Math.floor(Math.max(0, last) / pageSize); page += 1) pages.push(page);
        return pages;
    }

    readSight() {
        if (this.isEnded || !this.sight) return;
        const page = this.pagesIn(...this.sight).find(page => !this.pages.has(page));
        if (page !== undefined) this.load(page).then(() => { if (!this.failure) this.readSight(); });
    }

    load(page) {
        if (this.loading.has(page)) return this.loading.get(page);
        const work = this.read(page).finally(() => this.loading.delete(page));
        this.loading.set(page, work);
        return work;
    }

    async read(page) {
        const before = page > 0 ? this.pages.get(page - 1)?.cursor : null;
        const generation = this.generation;
        try {
            const answer = await ask('POST', 'query', {
                ...this.input, size: pageSize, cursor: before ?? null, offset: page > 0 && !before ? page * pageSize : undefined,
            }, { signal: this.abort.signal });
            if (this.isEnded || this.isLive && page < 2 && this.pages.has(page)) return;
            this.failure = null;
            this.pages.delete(page);
            this.pages.set(page, { documents: answer.documents, cursor: answer.cursor, generation });
            this.known = Math.max(this.known, page * pageSize + answer.documents.length);
            if (!answer.cursor) {
                this.hasMore = false;
                if (this.total === null || page === 0) this.total = page * pageSize + answer.documents.length;
            } else if (this.known === page * pageSize + answer.documents.length) {
                this.hasMore = true;
            }
            this.letGo();
            this.onchange();
        } catch (error) {
            if (error.name === 'AbortError') return;
            this.failure = error;
            this.onfailure(error);
        }
    }

    /// Keeps the first two pages, which are live, and those near what is in sight.
    letGo() {
        if (this.pages.size <= mostPages) return;
        const middle = this.sight ? (this.sight[0] + this.sight[1]) / 2 / pageSize : 0;
        const far = [...this.pages.keys()].filter(page => page > 1).sort((one, other) => Math.abs(other - middle) - Math.abs(one - middle));
        for (const page of far.slice(0, this.pages.size - mostPages)) this.pages.delete(page);
    }

    // MARK: Live

    received(event) {
        if (event.watch !== this.watch) return;
        if (event.error) {
            // The server has ended it: the list is read again, and followed again a little later.
            this.isLive = false;
            this.isWhole = false;
            this.touched();
            setTimeout(() => { if (!this.isEnded) this.follow(); }, 2000);
            return;
        }
        const isFirst = !this.isLive;
        this.isLive = true;
        const documents = event.documents;
        const changed = isFirst ? [] : event.changed ?? [];
        const window = documents.length;
        const isWhole = window < 200;
        this.isWhole = isWhole;
        for (let page = 0; page * pageSize < Math.max(window, 1) && page < 2; page += 1) {
            const old = this.pages.get(page);
            if (page > 0 && !old) continue;
            this.pages.set(page, {
                documents: documents.slice(page * pageSize, (page + 1) * pageSize),
                cursor: null, generation: this.generation,
            });
        }
        if (isWhole) {
            this.total = window;
            this.hasMore = false;
            this.settle();
        } else if (changed.length) {
            this.recount();
            this.far();
        }
        const now = performance.now();
        for (const path of changed) this.fresh.set(path, now);
        this.onchange();
        if (changed.length) this.ontouch?.(changed);
    }

    /// Something was written: what is beyond the live window is read again, soon.
    touched() {
        if (this.isLive && this.isWhole) return this.ontouch?.(null);
        this.recount();
        if (!this.isLive) this.reread();
        else this.far();
        this.ontouch?.(null);
    }

    far() {
        this.generation += 1;
        if (this.sight && this.sight[1] >= pageSize * 2) this.reread();
        for (const page of [...this.pages.keys()]) {
            if (page > 1 && !(this.sight && this.pagesIn(...this.sight).includes(page))) this.pages.delete(page);
        }
    }

    async readAgain() {
        if (this.isEnded) return;
        const pages = this.sight ? this.pagesIn(...this.sight) : [0];
        for (const page of pages) {
            if (this.isLive && page < 2 || this.isEnded) continue;
            await this.load(page);
        }
    }

    isFresh(path) {
        const at = this.fresh.get(path);
        if (at === undefined) return false;
        if (performance.now() - at < 1600) return true;
        this.fresh.delete(path);
        return false;
    }
}

function leaving(work) {
    addEventListener('pagehide', work);
    return () => removeEventListener('pagehide', work);
}

/// At most once in so long, and once more at the end. What takes long is done rarely: it may take a twentieth of the time, so that
/// a page never keeps a server busy.
function throttled(milliseconds, work) {
    let timer = 0;
    let next = 0;
    let isWorking = false;
    let isAskedAgain = false;
    const run = async () => {
        timer = 0;
        isWorking = true;
        const started = performance.now();
        await work();
        isWorking = false;
        next = performance.now() + Math.max(milliseconds, 20 * (performance.now() - started));
        if (isAskedAgain) ask();
        isAskedAgain = false;
    };
    const ask = () => {
        if (isWorking) isAskedAgain = true;
        else if (!timer) timer = setTimeout(run, Math.max(50, next - performance.now()));
    };
    ask.cancel = () => clearTimeout(timer);
    return ask;
}
