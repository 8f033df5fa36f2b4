// Dialogs and short messages. All of them close with Esc, and give the focus back.

import { h, button, icon, fill } from './dom.js';

/// `body` is what the dialog asks; `actions` are `{text, kind, run}`. An action whose `run` throws stays open and says why.
export function dialog(title, body, actions = [], { isWide, onclose } = {}) {
    const wrong = h('p.wrong', { role: 'alert', hidden: true });
    const back = document.activeElement;
    const element = h(isWide ? 'dialog.dialog.wide' : 'dialog.dialog', { 'aria-label': title });
    const close = () => { element.close(); };
    const form = h('form.dialog-form', {
        method: 'dialog', novalidate: true,
        onsubmit: event => {
            event.preventDefault();
            run(actions.find(action => action.isDefault) ?? actions.at(-1));
        },
    },
    h('header.dialog-head', h('h2', title), button('', close, { kind: 'quiet square', icon: 'close', label: 'Close' })),
    h('div.dialog-body', body, wrong));
    const buttons = new Map();
    if (actions.length) {
        const foot = h('footer.dialog-foot', button('Cancel', close, { kind: 'quiet' }));
        for (const action of actions) {
            const isMain = action.isDefault || action === actions.at(-1);
            const element = h('button', { type: isMain ? 'submit' : 'button', class: action.kind ?? (isMain ? 'primary' : ''), onclick: isMain ? null : () => run(action) }, action.text);
            buttons.set(action, element);
            foot.append(element);
        }
        form.append(foot);
    }
    async function run(action) {
        if (!action) return close();
        const pressed = buttons.get(action);
        if (pressed.disabled) return;
        pressed.disabled = true;
        wrong.hidden = true;
        try {
            if (await action.run() !== false) close();
        } catch (error) {
            wrong.textContent = error.message;
            wrong.hidden = false;
        } finally {
            pressed.disabled = false;
        }
    }
    element.append(form);
    element.addEventListener('close', () => {
        element.remove();
        onclose?.();
        if (back?.isConnected) back.focus();
    });
    element.addEventListener('click', event => { if (event.target === element) close(); });
    document.body.append(element);
    element.showModal();
    const first = element.querySelector('[autofocus], .dialog-body input, .dialog-body textarea, .dialog-body select');
    (first ?? element.querySelector('.dialog-foot button:last-child'))?.focus();
    return { element, close };
}

export function confirm(title, text, verb, run, kind = 'danger') {
    return dialog(title, h('p', text), [{ text: verb, kind, run }]);
}

/// A short message at the edge. `action` is `{text, run}`.
export function toast(text, { kind = '', action, seconds = 6 } = {}) {
    const place = document.querySelector('.toasts');
    const element = h('div.toast', { class: kind },
        kind === 'bad' ? icon('warn') : null,
        h('span.toast-text', text),
        action ? button(action.text, () => { close(); action.run(); }, { kind: 'quiet' }) : null,
        button('', () => close(), { kind: 'quiet square', icon: 'close', label: 'Dismiss' }));
    // “Undo” is always about the last write: what offered it before no longer does.
    if (action?.text === 'Undo') {
        forgetUndo();
        element.dataset.undo = '';
    }
    let timer = setTimeout(() => close(), seconds * 1000);
    const close = () => { clearTimeout(timer); element.remove(); };
    // Who reads it decides when it goes.
    element.addEventListener('pointerenter', () => clearTimeout(timer));
    element.addEventListener('pointerleave', () => { timer = setTimeout(close, 2000); });
    while (place.children.length >= 4) place.firstElementChild.remove();
    place.append(element);
    return close;
}

export function forgetUndo() {
    for (const element of document.querySelectorAll('.toast[data-undo]')) element.remove();
}

export const failed = (what, error) => {
    if (error?.name === 'AbortError') return;
    toast(`${what}: ${error.message}`, { kind: 'bad', seconds: 12 });
};

/// A menu below a button.
export function menu(anchor, items) {
    document.querySelector('.menu')?.remove();
    const element = h('div.menu', { role: 'menu' }, items.filter(Boolean).map(item => item === '-'
        ? h('div.menu-line', { role: 'separator' })
        : h('button.menu-item', { type: 'button', role: 'menuitem', tabindex: '-1', class: item.kind ?? '', disabled: item.isDisabled, onclick: () => { close(); item.run(); } },
            icon(item.icon ?? 'more'), h('span', item.text), item.key ? h('kbd', item.key) : null)));
    const close = () => {
        element.remove();
        anchor.setAttribute('aria-expanded', 'false');
        removeEventListener('pointerdown', outside, true);
        anchor.focus();
    };
    const outside = event => { if (!element.contains(event.target) && !anchor.contains(event.target)) close(); };
    element.addEventListener('keydown', event => {
        const all = [...element.querySelectorAll('.menu-item:not(:disabled)')];
        const index = all.indexOf(document.activeElement);
        if (event.key === 'Escape' || event.key === 'Tab') close();
        else if (event.key === 'ArrowDown') all[(index + 1) % all.length]?.focus();
        else if (event.key === 'ArrowUp') all[(index - 1 + all.length) % all.length]?.focus();
        else return;
        event.preventDefault();
        event.stopPropagation();
    });
    addEventListener('pointerdown', outside, true);
    document.body.append(element);
    const box = anchor.getBoundingClientRect();
    element.style.top = `${Math.min(box.bottom + 4, innerHeight - element.offsetHeight - 8)}px`;
    element.style.left = `${Math.max(8, Math.min(box.left, innerWidth - element.offsetWidth - 8))}px`;
    anchor.setAttribute('aria-expanded', 'true');
    element.querySelector('.menu-item:not(:disabled)')?.focus();
}

/// What stands where there is nothing yet.
export function nothing(title, text, ...more) {
    return h('div.nothing', h('p.nothing-title', title), text ? h('p', text) : null, more);
}

/// A failure in place, with the reason of a rule if the server gave one.
export function wrongBox(error, again) {
    return h('div.wrongbox', { role: 'alert' }, icon('warn'), h('div', h('p', error.message), again ? button('Try again', again) : null));
}

export { fill };
