package import SwitchyardBytes
package import SwitchyardWire

extension Gate {
    /// Holds a scripted answer back: returns when the gate is open; at once, with `.cancelled`, when the task is cancelled.
    package func pass() async throws(TransportError) {
        await wait()
        if Task.isCancelled { throw TransportError(.cancelled, "the exchange was cancelled", mayHaveBeenSent: true) }
    }
}
