// As whom the page reads and writes.

import { h, fill, button, field, select, settled } from './dom.js';
import { actAs, ask, can, state } from './state.js';
import { dialog, toast } from './dialogs.js';

export function chooseActing() {
    const now = state.acting;
    let way = !now ? 'project' : now.signedOut ? 'signedOut' : 'user';
    const user = h('input.mono', { id: 'act-user-id', value: now?.user ?? '', list: 'act-users', autocomplete: 'off', spellcheck: 'false', placeholder: 'ID of an account' });
    const users = h('datalist', { id: 'act-users' });
    const claims = h('textarea.mono', { id: 'act-claims', rows: '4', spellcheck: 'false', value: now?.claims ? JSON.stringify(now.claims, null, 2) : '{}' });
    const level = select([['', 'as the account has it'], ['aal1', 'aal1 · one factor'], ['aal2', 'aal2 · two factors']], now?.assurance ?? '', null, { id: 'act-level' });
    const known = new Map();
    const details = h('div.act-user', field('User', user, { hint: 'One of the accounts, or any ID: the rules see it as signed in.' }), users,
        field('Claims', claims, { hint: 'JSON, in addition to those of the account' }), field('Assurance level', level));
    const choice = (value, title, text) => h('label.choice', { for: `act-${value}` },
        h('input', { type: 'radio', name: 'act', id: `act-${value}`, value, checked: way === value, onchange: () => { way = value; details.hidden = way !== 'user'; if (way === 'user') user.focus(); } }),
        h('span', h('strong', title), h('span', text)));
    details.hidden = way !== 'user';
    user.addEventListener('change', () => {
        const account = known.get(user.value);
        if (account?.claims && Object.keys(account.claims).length && claims.value.trim() === '{}') claims.value = JSON.stringify(account.claims, null, 2);
    });
    if (can('accounts')) {
        ask('GET', 'accounts').then(({ accounts }) => {
            fill(users, accounts.map(account => {
                known.set(account.id, account);
                return h('option', { value: account.id }, account.email || account.phone || account.name || '');
            }));
        }, () => {});
    }
    dialog('Act as', h('div.choices', { role: 'radiogroup', 'aria-label': 'Act as' },
        choice('project', 'The project', 'The project credential: no rules and no policies apply.'),
        choice('signedOut', 'Signed out', 'What everyone sees.'),
        choice('user', 'A user', 'What this user sees, with these claims.'),
        details), [{
        text: 'Act', run: () => {
            if (way === 'project') actAs(null);
            else if (way === 'signedOut') actAs({ signedOut: true });
            else {
                const id = user.value.trim();
                if (!id) throw new Error('Whose documents should be shown? Enter the ID of a user.');
                let given;
                try { given = JSON.parse(claims.value.trim() || '{}'); } catch { throw new Error('The claims are no JSON. Write an object, such as {"role": "editor"}.'); }
                if (!given || typeof given !== 'object' || Array.isArray(given)) throw new Error('Claims are an object, such as {"role": "editor"}.');
                const account = known.get(id);
                actAs({ user: id, claims: given, assurance: level.value || undefined, name: account?.email || account?.name || id });
            }
            if (state.acting) toast(`This tab acts as ${state.acting.signedOut ? 'someone signed out' : state.acting.name}`, { action: { text: 'Back to the project', run: () => actAs(null) } });
        },
    }]);
}
