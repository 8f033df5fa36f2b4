// Which rule or policy decided, and why.

import { h, icon } from './dom.js';

export function verdict(decision) {
    if (!decision || decision.allowed == null) return h('span.chip', '—');
    return h('span.chip', { class: decision.allowed ? 'good' : 'bad' }, icon(decision.allowed ? 'check' : 'lock'), decision.allowed ? 'allowed' : 'denied');
}

function shown(value) {
    if (value === undefined) return '—';
    return typeof value === 'string' ? value : JSON.stringify(value, (_, part) => typeof part === 'bigint' ? String(part) : part);
}

const isFalse = value => value === false || typeof value === 'string' && /^(false|error)\b/.test(value);

/// The text of a rule, with the operands that were false marked in it.
function ruleText(step) {
    const text = step.rule ?? '';
    const marks = [];
    for (const operand of step.operands ?? []) {
        const marked = operand.mark ?? operand.text;
        if (!(operand.decisive ?? isFalse(operand.value)) || !isFalse(operand.value) || !marked || marked === text) continue;
        const start = text.indexOf(marked);
        if (start >= 0 && !marks.some(([from, to]) => start < to && from < start + marked.length)) marks.push([start, start + marked.length]);
    }
    marks.sort((one, other) => one[0] - other[0]);
    const parts = [];
    let position = 0;
    for (const [from, to] of marks) {
        parts.push(text.slice(position, from), h('mark.false', { title: 'This was false' }, text.slice(from, to)));
        position = to;
    }
    parts.push(text.slice(position));
    return parts;
}

function step(made) {
    const state = made.result === true ? 'good' : made.result === false ? 'bad' : 'warn';
    const word = made.result === true ? 'true' : made.result === false ? 'false' : 'error';
    const source = { rules: 'rules', policy: 'policy', 'built-in': 'built in' }[made.source] ?? made.source;
    return h('li.step', { class: state },
        h('div.step-head', h('span.step-result', word), h('span.step-name', made.name ?? ''),
            h('span.step-source', [source, made.line ? `line ${made.line}` : null].filter(Boolean).join(', '))),
        made.rule ? h('pre.rule', h('code', ruleText(made))) : null,
        made.operands?.length
            ? h('table.operands', h('caption.hidden', 'Parts of the expression and what they were'),
                h('tbody', made.operands.map(operand => h('tr', { class: (operand.decisive ?? true) && isFalse(operand.value) ? 'false' : '' },
                    h('th', { scope: 'row' }, h('code', operand.text)), h('td', h('code', shown(operand.value)))))))
            : null,
        made.row ? h('details.row-tried', h('summary', 'The row it was tried with'), h('pre', h('code', JSON.stringify(made.row, null, 2)))) : null);
}

export function explanation(made) {
    if (!made) return h('p.quiet-text', 'The server says nothing about this decision.');
    const steps = made.steps ?? [];
    return h('div.explanation',
        h('p.explanation-head', verdict(made), h('span', made.summary ?? (made.allowed ? 'This was allowed.' : 'This was denied.'))),
        steps.length ? h('ol.steps', steps.map(step)) : made.summary ? null : h('p.quiet-text', 'No rule or policy guards it.'));
}
