// Accounts: claims, factors, sessions.

import { h, button, day, field, fill, icon, paced, plural, settled } from './dom.js';
import { ask, actAs, can, did, go, state } from './state.js';
import { Grid, put, putNode } from './grid.js';
import { on, onceOpened, turns } from './events.js';
import { confirm, dialog, failed, nothing, toast, wrongBox } from './dialogs.js';

export class AccountsView {
    title = 'Accounts';

    constructor() {
        this.turn = turns();
        this.accounts = [];
        this.shown = [];
        this.status = h('span.list-count', { role: 'status' });
        this.search = h('input', { type: 'search', placeholder: 'Filter', 'aria-label': 'Filter accounts', oninput: () => { this.apply(); this.seek(); } });
        // Of the accounts that are not read yet, the server finds one by its ID, address or number.
        this.seek = settled(300, () => this.find());
        this.grid = new Grid({
            label: 'Accounts', columns: this.columnsFor(1000), draw: (cells, index, row) => this.drawRow(cells, index, row),
            onopen: index => go('accounts', [this.shown[index].id]), onrange: (first, last) => { if (this.after && last > this.shown.length - 20) this.more(); },
            empty: nothing('Loading…'),
        });
        this.detail = h('section.panel', { 'aria-label': 'Account', hidden: true, onkeydown: event => { if (event.key === 'Escape' && !event.defaultPrevented) { event.preventDefault(); go('accounts'); this.grid.element.focus(); } } });
        this.element = h('div.panes', { 'data-shows': 'list' },
            h('section.list', { 'aria-label': 'Accounts' },
                h('header.list-head', h('h1.list-title', 'Accounts'), this.status, h('span.grow'), button('Add account', () => this.add(), { kind: 'small', icon: 'plus', key: 'n', label: 'Add account' })),
                h('div.query', icon('search'), this.search), this.grid.element),
            this.detail);
        this.sizes = new ResizeObserver(([entry]) => {
            const isNarrow = entry.contentRect.width < 640;
            if (isNarrow === this.isNarrow) return;
            this.isNarrow = isNarrow;
            this.grid.setColumns(this.columnsFor(entry.contentRect.width));
        });
        this.sizes.observe(this.grid.element);
    }

    columnsFor(width) {
        const all = [
            { id: 'name', title: 'Account', width: 'minmax(150px, 1.5fr)' }, { id: 'id', title: 'ID', width: 'minmax(120px, 1.2fr)' },
            { id: 'ways', title: 'Signs in with', width: 'minmax(100px, 1fr)' }, { id: 'claims', title: 'Claims', width: 'minmax(100px, 1fr)' },
            { id: 'state', title: 'State', width: '92px' }, { id: 'seen', title: 'Last sign-in', width: '132px' },
        ];
        return width < 640 ? [all[0], all[4]] : all;
    }

    start() {
        this.stops = [on('accounts', event => { if (event.backend === state.backend.id) this.reload(); }), on('gap', () => this.reload()), on('reset', () => this.reload())];
        this.reload = settled(200, () => this.load());
        onceOpened(() => this.load());
        this.load();
    }

    stop() {
        for (const stop of this.stops) stop();
        this.grid.close();
        this.sizes.disconnect();
    }

    async load() {
        try {
            const isLast = this.turn();
            const { accounts, after } = await ask('GET', 'accounts');
            if (!isLast()) return;
            this.accounts = accounts;
            this.after = after;
            this.apply();
            if (this.open) this.drawDetail();
        } catch (error) {
            fill(this.grid.blank, wrongBox(error, () => this.load()));
            this.grid.setTotal(0);
        }
    }

    async find() {
        const text = this.search.value.trim();
        if (!text || !this.after || this.shown.length) return;
        try {
            const { accounts } = await ask('GET', `accounts?search=${encodeURIComponent(text)}`);
            this.accounts.push(...accounts.filter(account => !this.accounts.some(known => known.id === account.id)));
            this.apply();
        } catch (error) { failed('Searching failed', error); }
    }

    async more() {
        if (this.isReading || !this.after) return;
        this.isReading = true;
        try {
            const { accounts, after } = await ask('GET', `accounts?after=${encodeURIComponent(this.after)}`);
            this.accounts.push(...accounts);
            this.after = after;
            this.apply();
        } catch (error) { failed('Further accounts could not be read', error); } finally { this.isReading = false; }
    }

    apply() {
        const text = this.search.value.toLowerCase();
        this.shown = this.accounts.filter(account => !text || `${account.email} ${account.phone} ${account.name} ${account.id}`.toLowerCase().includes(text));
        fill(this.grid.blank, this.accounts.length ? nothing('No account matches the filter') : nothing('No accounts yet', 'They appear as soon as someone signs up, or you add one.', button('Add account', () => this.add(), { icon: 'plus' })));
        fill(this.status, this.after ? `first ${plural(this.accounts.length, 'account')}` : plural(this.accounts.length, 'account'));
        this.grid.setTotal(this.shown.length);
    }

    drawRow(cells, index, row) {
        const account = this.shown[index];
        row.dataset.key = account.id;
        this.grid.columns.forEach((column, place) => {
            const cell = cells[place];
            switch (column.id) {
            case 'name': return put(cell, title(account), { className: 'what' });
            case 'id': return put(cell, account.id, { className: 'mono dim', title: account.id });
            case 'ways': return put(cell, ways(account), { className: 'dim' });
            case 'claims': return put(cell, claimsText(account.claims), { className: 'mono dim' });
            case 'state': return putNode(cell, h('span.chip', { class: account.isDisabled ? 'bad' : '' }, account.isDisabled ? 'disabled' : account.factors?.length ? '2 factors' : 'active'));
            default: return put(cell, account.lastSignInAt ? day(account.lastSignInAt) : 'never', { className: 'dim' });
            }
        });
    }

    show(rest) {
        const id = rest[0] ?? null;
        this.element.dataset.shows = id ? 'detail' : 'list';
        this.detail.hidden = !id;
        this.open = id;
        if (id) {
            this.isEditing = false;
            this.drawn = null;
            this.drawDetail();
        }
    }

    async drawDetail() {
        // Not under the hands of someone who stands in the claims.
        if (this.drawn === this.open && (this.isEditing || document.activeElement?.id === 'claims')) return;
        const account = this.accounts.find(account => account.id === this.open);
        if (!account) return fill(this.detail, h('p.quiet-text', 'Loading…'));
        this.drawn = this.open;
        const claims = h('textarea.mono', { id: 'claims', rows: '5', spellcheck: 'false', value: JSON.stringify(account.claims ?? {}, null, 2), oninput: () => { this.isEditing = true; save.disabled = false; } });
        const save = button('Save claims', () => this.saveClaims(account, claims), { kind: 'small primary', disabled: true });
        const sessions = h('div', h('p.quiet-text', 'Loading…'));
        const fact = (name, value) => h('div', h('dt', name), h('dd', value || '—'));
        fill(this.detail,
            h('header.panel-head', h('div.panel-title', button('', () => go('accounts'), { kind: 'quiet square back', icon: 'back', label: 'Back to the list' }),
                h('h2', title(account)), h('span.grow'),
                h('div.panel-actions',
                    can('actAs') ? button('Act as', () => { actAs({ user: account.id, claims: account.claims ?? {}, name: title(account) }); toast(`This tab acts as ${title(account)}`); }, { kind: 'small', icon: 'mask' }) : null,
                    button('', () => this.delete(account), { kind: 'quiet square', icon: 'trash', label: 'Delete the account' }),
                    button('', () => go('accounts'), { kind: 'quiet square', icon: 'close', label: 'Close', key: 'Escape' })))),
            h('div.panel-body',
                h('dl.facts', fact('ID', h('code', account.id)), fact('Email', account.email), fact('Phone', account.phone), fact('Name', account.name), fact('Signs in with', ways(account)),
                    fact('Created', day(account.createdAt)), fact('Last sign-in', account.lastSignInAt ? day(account.lastSignInAt) : 'never')),
                h('label.check.switch', { for: 'is-disabled' }, h('input', { type: 'checkbox', role: 'switch', id: 'is-disabled', checked: Boolean(account.isDisabled), onchange: event => this.disable(account, event.target.checked) }), 'Disabled: cannot sign in'),
                h('section', h('h3', 'Claims'), h('label.hidden', { for: 'claims' }, 'Claims as JSON'), claims, h('p', save)),
                can('factors') ? h('section', h('h3', 'Second factors'), account.factors?.length
                    ? h('ul.rows', account.factors.map(factor => h('li', icon('lock'), h('span.grow', factor.name || factor.kind || 'factor', h('span.quiet-text', factor.name && factor.kind ? ` ${factor.kind}` : '')),
                        button('', () => this.removeFactor(account, factor), { kind: 'quiet square', icon: 'trash', label: `Remove the factor ${factor.name || factor.id}` }))))
                    : h('p.quiet-text', 'None')) : null,
                h('section', h('h3', 'Sessions'), sessions)));
        this.loadSessions(account, sessions);
    }

    async loadSessions(account, place) {
        const unlisted = () => fill(place, h('p.quiet-text', 'This server does not list sessions; it can end all of them.'), h('p', button('End all sessions', () => this.endSessions(account), { kind: 'small' })));
        if (!can('sessions')) return unlisted();
        try {
            const { sessions, isListed } = await ask('GET', `accounts/${encodeURIComponent(account.id)}/sessions`);
            if (isListed === false) return unlisted();
            if (!sessions.length) return fill(place, h('p.quiet-text', 'None: signed in nowhere'));
            fill(place, h('ul.rows', sessions.map(session => h('li', icon('app'),
                h('span.grow', h('code', String(session.id).slice(0, 12)), h('span.quiet-text', ` since ${day(session.createdAt)}${session.assurance ? `, ${session.assurance}` : ''}${session.userAgent ? `, ${session.userAgent}` : ''}`)),
                button('End', () => this.endSessions(account, session.id), { kind: 'small quiet', label: `End the session ${String(session.id).slice(0, 12)}` })))),
            button('End all sessions', () => this.endSessions(account), { kind: 'small' }));
        } catch (error) { fill(place, h('p.quiet-text', error.message)); }
    }

    async change(what, work) {
        try {
            await work();
            this.isEditing = false;
            this.drawn = null;
            await this.load();
        } catch (error) {
            failed(what, error);
            this.load();
        }
    }

    patch(account, changes, label) {
        const before = Object.fromEntries(Object.keys(changes).map(name => [name, account[name] ?? (name === 'claims' ? {} : false)]));
        return this.change(`${label} failed`, async () => {
            await ask('PATCH', `accounts/${encodeURIComponent(account.id)}`, changes);
            did(`${label}: ${title(account)}`, async () => { await ask('PATCH', `accounts/${encodeURIComponent(account.id)}`, before); this.isEditing = false; this.load(); });
            toast(label, { seconds: 3 });
        });
    }

    disable(account, isDisabled) { return this.patch(account, { isDisabled }, isDisabled ? 'Disabled' : 'Enabled'); }

    saveClaims(account, area) {
        let claims;
        try { claims = JSON.parse(area.value || '{}'); } catch (error) { return failed('The claims are no JSON', error); }
        return this.patch(account, { claims }, 'Claims changed');
    }

    removeFactor(account, factor) {
        return this.change('The factor could not be removed', () => ask('DELETE', `accounts/${encodeURIComponent(account.id)}/factors/${encodeURIComponent(factor.id)}`));
    }

    endSessions(account, session) {
        return this.change('The session could not be ended', async () => {
            await ask('DELETE', `accounts/${encodeURIComponent(account.id)}/sessions${session ? `/${encodeURIComponent(session)}` : ''}`);
            toast(session ? 'Session ended' : 'All sessions ended', { seconds: 3 });
        });
    }

    delete(account) {
        confirm(`Delete ${title(account)}?`, 'The account and its sessions are gone. This cannot be undone.', 'Delete', async () => {
            await ask('DELETE', `accounts/${encodeURIComponent(account.id)}`);
            toast(`Deleted ${title(account)}`, { seconds: 3 });
            go('accounts');
            this.load();
        });
    }

    add() {
        const control = (id, type, more = {}) => h('input', { id, type, autocomplete: 'off', ...more });
        const [email, phone, name, password] = [control('new-email', 'email'), control('new-phone', 'tel'), control('new-name', 'text'), control('new-password', 'text')];
        const claims = h('textarea.mono', { id: 'new-claims', rows: '3', spellcheck: 'false', value: '{}' });
        dialog('Add account', [field('Email address', email), field('Password', password, { hint: 'At least six characters; empty for none' }), field('Phone number', phone, { hint: 'Such as +49 731 123456' }), field('Name', name), field('Claims', claims)], [{
            text: 'Add', run: async () => {
                const body = {};
                for (const [part, input] of Object.entries({ email, phone, name, password })) if (input.value.trim()) body[part] = input.value.trim();
                const given = JSON.parse(claims.value || '{}');
                if (Object.keys(given).length) body.claims = given;
                const made = await ask('POST', 'accounts', body);
                await this.load();
                const id = made?.id ?? made?.account?.id;
                if (id) {
                    did(`Add account ${body.email ?? id}`, async () => { await ask('DELETE', `accounts/${encodeURIComponent(id)}`); this.load(); });
                    go('accounts', [id]);
                }
            },
        }]);
    }

    escape() {
        if (!this.open) return;
        go('accounts');
        this.grid.element.focus();
    }

    keys = [['/', 'Filter', () => this.search.focus()], ['n', 'Add an account', () => this.add()]];
}

const ways = account => (account.providers ?? []).join(', ') || (account.isAnonymous ? 'anonymous' : '—');
const title = account => account.email || account.phone || account.name || account.id;
const claimsText = claims => claims && Object.keys(claims).length ? JSON.stringify(claims) : '';
