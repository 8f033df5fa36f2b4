// Mails, text messages and pushes that a local server “sent”.

import { h, button, clock, day, fill, icon, plural } from './dom.js';
import { ask, go, state } from './state.js';
import { on, onceOpened, turns } from './events.js';
import { failed, nothing, toast, wrongBox } from './dialogs.js';

const kinds = { mail: ['outbox', 'mail'], sms: ['app', 'text message'], push: ['messages', 'push'] };

export class OutboxView {
    title = 'Outbox';

    constructor() {
        this.turn = turns();
        this.items = h('ul.cards', { 'aria-label': 'Messages' });
        this.status = h('span.list-count', { role: 'status' });
        this.detail = h('section.panel', { 'aria-label': 'Message', hidden: true, onkeydown: event => { if (event.key === 'Escape') { event.preventDefault(); go('outbox'); } } });
        this.element = h('div.panes', { 'data-shows': 'list' },
            h('section.list', { 'aria-label': 'Outbox' },
                h('header.list-head', h('h1.list-title', 'Outbox'), this.status),
                h('div.scroll', this.items)),
            this.detail);
    }

    start() {
        this.stops = [on('outbox', event => { if (event.backend === state.backend.id) this.load(); }), on('gap', () => this.load()), on('reset', () => this.load())];
        onceOpened(() => this.load());
        this.load();
    }

    escape() { if (this.open) go('outbox'); }

    stop() { for (const stop of this.stops) stop(); }

    async load() {
        try {
            const isLast = this.turn();
            const { messages } = await ask('GET', 'outbox');
            if (!isLast()) return;
            this.messages = [...messages].sort((one, other) => Number(other.n) - Number(one.n));
            this.draw();
        } catch (error) { fill(this.items, wrongBox(error, () => this.load())); }
    }

    draw() {
        fill(this.status, plural(this.messages.length, 'message'));
        if (!this.messages.length) return fill(this.items, h('li', nothing('Nothing was sent yet', 'What the local server would have sent stands here: confirmations, codes, links, pushes. Nothing leaves this machine.')));
        fill(this.items, this.messages.map(message => {
            const [shape, name] = kinds[message.kind] ?? ['outbox', message.kind];
            return h('li', h('a.card', { href: `#/${encodeURIComponent(state.backend.id)}/outbox/${message.n}`, 'aria-current': this.open === Number(message.n) ? 'true' : null },
                icon(shape), h('span.card-main', h('strong', message.subject || name), h('span', `to ${message.to}`), h('span.card-text', (message.text ?? '').slice(0, 140))),
                isShort(message.code) ? h('code.code', message.code) : null, h('time', clock(message.at))));
        }));
        if (this.open) this.drawDetail();
    }

    show(rest) {
        this.open = rest[0] ? Number(rest[0]) : null;
        this.element.dataset.shows = this.open ? 'detail' : 'list';
        this.detail.hidden = !this.open;
        if (this.messages) this.draw();
    }

    drawDetail() {
        const message = this.messages.find(message => Number(message.n) === this.open);
        if (!message) return fill(this.detail, nothing('This message is gone'));
        fill(this.detail,
            h('header.panel-head', h('div.panel-title', button('', () => go('outbox'), { kind: 'quiet square back', icon: 'back', label: 'Back to the list' }),
                h('h2', message.subject || kinds[message.kind]?.[1] || 'Message'), h('span.grow'),
                h('div.panel-actions', button('', () => go('outbox'), { kind: 'quiet square', icon: 'close', label: 'Close', key: 'Escape' })))),
            h('div.panel-body',
                h('dl.facts', h('div', h('dt', 'To'), h('dd', message.to)), h('div', h('dt', 'Sent'), h('dd', day(message.at))), h('div', h('dt', 'Kind'), h('dd', kinds[message.kind]?.[1] ?? message.kind))),
                isShort(message.code) ? h('p.big-code', h('code', message.code), button('Copy', () => navigator.clipboard.writeText(message.code).then(() => toast('Code copied', { seconds: 2 }), error => failed('Copying failed', error)), { kind: 'small', icon: 'copy' })) : null,
                h('pre.letter', message.text ?? ''),
                message.receivers ? h('section', h('h3', 'Received by'), message.receivers.length ? h('ul.plain', message.receivers.map(receiver => h('li', h('code', receiver)))) : h('p.quiet-text', 'No one')) : null,
                message.links?.length ? h('section', h('h3', 'Links'), h('ul.plain', message.links.map(link => h('li', h('a.link', { href: safe(link), target: '_blank', rel: 'noopener noreferrer' }, icon('link'), h('span', link)))))) : null));
    }
}

/// A code to be typed, and not one that is part of a link.
const isShort = code => code && code.length <= 12;
const safe = link => /^https?:/i.test(link) ? link : '#';
