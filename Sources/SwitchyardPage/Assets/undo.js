// Takes back the last write of this tab.

import { lastStep, undoLast } from './state.js';
import { failed, forgetUndo, toast } from './dialogs.js';
import { say } from './dom.js';

export async function performUndo() {
    const step = lastStep();
    if (!step) return toast('Nothing to undo', { seconds: 2 });
    try {
        await undoLast();
        forgetUndo();
        toast(`Undone: ${step.label}`, { seconds: 4 });
        say(`Undone: ${step.label}`);
        dispatchEvent(new CustomEvent('undone'));
    } catch (error) {
        failed(`“${step.label}” cannot be undone`, error);
    }
}
