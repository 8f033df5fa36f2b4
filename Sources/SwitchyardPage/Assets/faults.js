// Faults from here: late, refused, cut and lost answers, and a realtime service that tells nothing.

import { h, button, field, fill, icon, plural, select } from './dom.js';
import { ask } from './state.js';
import { failed, toast } from './dialogs.js';

const kinds = {
    delay: { name: 'Delay', text: 'Answers come late.' },
    answer: { name: 'Refuse', text: 'Requests are not carried out, and answered with a status.' },
    drop: { name: 'Lose the answer', text: 'Requests are carried out, and the connection ends without an answer.' },
    cut: { name: 'Cut', text: 'The connection ends in the middle of the answer.' },
    pace: { name: 'Slow line', text: 'The answer trickles.' },
    holdAnswer: { name: 'Hold', text: 'Answers wait until you let them pass.' },
};

function describe(rule) {
    switch (rule.fault) {
    case 'delay': return `answers ${rule.milliseconds ?? 0} ms late`;
    case 'answer': return `refused with ${rule.status ?? 503}`;
    case 'drop': return 'answers lost';
    case 'cut': return `cut after ${rule.bytes ?? 0} bytes`;
    case 'pace': return `${rule.bytes ?? 1} bytes every ${rule.milliseconds ?? 10} ms`;
    case 'holdAnswer': return `answers held${rule.held ? `, ${rule.held} waiting` : ''}`;
    case 'holdRequest': return `requests held${rule.held ? `, ${rule.held} waiting` : ''}`;
    case 'replace': return `answered with ${rule.status ?? 503} instead`;
    default: return rule.fault;
    }
}

export class FaultsPanel {
    constructor({ onclose }) {
        this.onclose = onclose;
        this.kind = 'delay';
        this.rules = h('ul.fault-rules', { 'aria-label': 'Active faults' });
        this.options = h('div.fault-options');
        this.kindControl = select(Object.entries(kinds).map(([kind, { name }]) => [kind, name]), 'delay', kind => { this.kind = kind; this.drawOptions(); }, { id: 'fault-kind' });
        this.method = select([['', 'any'], 'GET', 'POST', 'PUT', 'PATCH', 'DELETE'], '', null, { id: 'fault-method' });
        this.path = h('input.mono', { id: 'fault-path', placeholder: 'any', autocomplete: 'off', spellcheck: 'false' });
        this.times = h('input', { id: 'fault-times', type: 'number', min: '1', placeholder: 'all', inputmode: 'numeric' });
        this.deaf = h('input', { type: 'checkbox', role: 'switch', id: 'deaf', onchange: event => this.setDeaf(event.target.checked) });
        this.element = h('section.faults', { 'aria-label': 'Faults', hidden: true },
            h('form.fault-form', { onsubmit: event => { event.preventDefault(); this.add(); } },
                field('Fault', this.kindControl), this.options, field('Method', this.method), field('Path', this.path), field('Times', this.times),
                h('button.primary', { type: 'submit' }, 'Add fault')),
            h('div.fault-switches',
                h('label.check', { for: 'deaf' }, this.deaf, 'Deaf realtime'),
                button('Disconnect all', () => this.disconnect(), { kind: 'small' }),
                button('Remove all faults', () => this.removeAll(), { kind: 'small quiet' })),
            this.rules);
        this.drawOptions();
    }

    drawOptions() {
        const number = (id, label, value) => field(label, h('input', { id, type: 'number', min: '0', value: String(value), inputmode: 'numeric' }));
        const options = {
            delay: [number('fault-milliseconds', 'Milliseconds', 2000)], answer: [number('fault-status', 'Status', 503)],
            cut: [number('fault-bytes', 'After bytes', 200)], pace: [number('fault-bytes', 'Bytes', 64), number('fault-milliseconds', 'Every ms', 100)],
        }[this.kind] ?? [];
        fill(this.options, options);
        this.kindControl.title = kinds[this.kind].text;
    }

    async load() {
        try {
            const { faults, isDeaf } = await ask('GET', 'faults');
            this.deaf.checked = Boolean(isDeaf);
            const active = faults.filter(rule => rule.active !== false);
            // How many wait is no event: it is asked for while something is held and this is in sight.
            clearTimeout(this.timer);
            if (active.some(rule => rule.fault.startsWith('hold'))) this.timer = setTimeout(() => { if (this.element.isConnected && !this.element.hidden) this.load(); }, 1000);
            fill(this.rules, active.map(rule => h('li', icon('faults'),
                h('span.fault-text', h('strong', describe(rule)), ` for ${rule.method ?? 'any'} ${rule.path ?? 'request'}`, rule.times === null ? '' : `, ${plural(rule.times ?? 1, 'time')}`, rule.strikes ? ` · affected ${plural(rule.strikes, 'request')}` : ''),
                rule.fault.startsWith('hold') ? button('Let pass', () => this.open(rule.id), { kind: 'small' }) : null,
                button('', () => this.remove(rule.id), { kind: 'quiet square', icon: 'close', label: `Remove the fault: ${describe(rule)}` }))));
        } catch (error) { failed('The faults could not be read', error); }
    }

    async act(what, work) {
        try {
            await work();
            await this.load();
        } catch (error) { failed(what, error); }
    }

    add() {
        const rule = { fault: this.kind, times: this.times.value ? Number(this.times.value) : null };
        if (this.method.value) rule.method = this.method.value;
        if (this.path.value.trim()) rule.path = this.path.value.trim();
        for (const name of ['milliseconds', 'status', 'bytes']) {
            const control = this.options.querySelector(`#fault-${name}`);
            if (control) rule[name] = Number(control.value);
        }
        return this.act('The fault could not be added', () => ask('POST', 'faults', rule));
    }

    remove(id) { return this.act('The fault could not be removed', () => ask('DELETE', `faults/${id}`)); }
    open(id) { return this.act('Letting pass failed', () => ask('POST', `faults/${id}/open`, {})); }
    removeAll() { return this.act('The faults could not be removed', () => ask('DELETE', 'faults')); }
    setDeaf(on) { return this.act('Realtime could not be changed', () => ask('POST', 'faults/deaf', { on })); }
    disconnect() { return this.act('Disconnecting failed', async () => { await ask('POST', 'faults/disconnect', {}); toast('All connections were ended', { seconds: 3 }); }); }
}
