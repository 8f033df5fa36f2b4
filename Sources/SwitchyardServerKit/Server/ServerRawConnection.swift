import SwitchyardWire
import Synchronization

/// The server's side of a connection, as used by a protocol on it.
final class ServerRawConnection: RawConnection, @unchecked Sendable {
    // `@unchecked Sendable`: `wakesPending` is atomic, `connection` and `loop` are immutable; `endsWithReset` is used only by
    // the loop thread, and so is everything called on `connection`.

    /// A reference cycle, which the connection breaks when it closes.
    private let connection: ServerConnection
    private let loop: ServerLoop
    private let wakesPending = Atomic(false)
    /// Set by `close`; carried out when the handler has returned.
    var endsWithReset: Bool?

    init(_ connection: ServerConnection) {
        self.connection = connection
        loop = connection.loop
    }

    func send(_ bytes: UnsafeRawBufferPointer) -> Int { connection.sendForSession(bytes) }

    func setReceiving(_ receiving: Bool) { connection.setSessionReceiving(receiving) }

    func close() { if endsWithReset == nil { endsWithReset = false } }

    func wake() {
        guard !wakesPending.exchange(true, ordering: .acquiringAndReleasing) else { return }
        loop.submit(.wakeSession(connection))
    }

    func cancel() { loop.submit(.end(connection, reset: true)) }

    /// Anything queued from here on wakes the loop again.
    func startServing() { wakesPending.store(false, ordering: .sequentiallyConsistent) }
}
