// Messages: write one, and see who got it.

import { h, button, clock, field, fill, icon, plural, select } from './dom.js';
import { ask, sentActing, state } from './state.js';
import { on, onceOpened, turns } from './events.js';
import { failed, nothing, toast, wrongBox } from './dialogs.js';

export class MessagesView {
    title = 'Messages';

    constructor() {
        this.turn = turns();
        this.target = select([['topic', 'Topic'], ['to', 'Device']], 'topic', kind => { this.to.placeholder = kind === 'topic' ? 'news' : 'registration token'; }, { id: 'message-kind' });
        this.to = h('input.mono', { id: 'message-to', placeholder: 'news', autocomplete: 'off', spellcheck: 'false' });
        this.subject = h('input', { id: 'message-title', autocomplete: 'off' });
        this.body = h('textarea', { id: 'message-body', rows: '3' });
        this.data = h('textarea.mono', { id: 'message-data', rows: '3', spellcheck: 'false', value: '{}' });
        this.wrong = h('p.wrong', { role: 'alert', hidden: true });
        this.sent = h('ul.cards', { 'aria-label': 'Sent messages' });
        this.status = h('span.list-count', { role: 'status' });
        this.element = h('div.panes.messages', { 'data-shows': 'list' },
            h('section.list', { 'aria-label': 'Sent messages' }, h('header.list-head', h('h1.list-title', 'Messages'), this.status), h('div.scroll', this.sent)),
            h('section.panel.always', { 'aria-label': 'Compose' }, h('header.panel-head', h('div.panel-title', h('h2', 'Compose'))),
                h('form.panel-body', { onsubmit: event => { event.preventDefault(); this.send(); } },
                    field('To', this.target), field('Which', this.to), field('Title', this.subject), field('Text', this.body), field('Data', this.data, { hint: 'JSON that the app receives' }), this.wrong,
                    h('p', h('button.primary', { type: 'submit' }, icon('messages'), h('span', 'Send'))))));
    }

    start() {
        this.stops = ['messages', 'outbox', 'gap', 'reset'].map(kind => on(kind, () => this.load()));
        onceOpened(() => this.load());
        this.load();
    }

    stop() { for (const stop of this.stops) stop(); }

    async load() {
        try {
            const isLast = this.turn();
            const { messages } = await ask('GET', 'messages');
            if (!isLast()) return;
            this.draw([...messages].sort((one, other) => Number(other.n ?? 0) - Number(one.n ?? 0)));
        } catch (error) { fill(this.sent, h('li', wrongBox(error, () => this.load()))); }
    }

    draw(messages) {
        fill(this.status, plural(messages.length, 'message'));
        if (!messages.length) return fill(this.sent, h('li', nothing('Nothing was sent yet', 'Messages of your app and those you send here appear with those who received them.')));
        fill(this.sent, messages.map(message => h('li.card.still', icon('messages'),
            h('span.card-main', h('strong', message.subject || message.text || 'Data only'), h('span', `to ${message.to}`), message.subject && message.text ? h('span.card-text', message.text) : null,
                message.data && Object.keys(message.data).length ? h('code.card-text', JSON.stringify(message.data)) : null,
                h('span.receivers', (message.receivers ?? []).length
                    ? message.receivers.map(receiver => h('span.chip.good', { title: receiver }, icon('check'), receiver.length > 28 ? `${receiver.slice(0, 12)}…${receiver.slice(-6)}` : receiver))
                    : h('span.chip', 'received by no one'))),
            h('time', clock(message.at)))));
    }

    async send() {
        this.wrong.hidden = true;
        const wrong = text => { this.wrong.textContent = text; this.wrong.hidden = false; };
        const to = this.to.value.trim();
        if (!to) { this.to.focus(); return wrong('To whom? Enter a topic or the token of a device.'); }
        let data;
        try { data = JSON.parse(this.data.value.trim() || '{}'); } catch (error) { return wrong(`The data are no JSON: ${error.message}`); }
        try {
            await ask('POST', 'messages', { [this.target.value]: to, title: this.subject.value || undefined, body: this.body.value || undefined, data, as: sentActing() });
            toast('Sent', { seconds: 3 });
            await this.load();
        } catch (error) { wrong(error.message); }
    }

    keys = [['n', 'Compose', () => this.to.focus()]];
}
