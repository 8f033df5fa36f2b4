/// A TCP or TLS connection without any protocol on it, run by a transport's loop thread.
///
/// Except for `wake` and `cancel`, which any thread may call, everything here belongs to the loop thread: call it only
/// from within a method of the handler.
package protocol RawConnection: AnyObject, Sendable {
    /// Hands bytes to the connection and answers how many it took.
    ///
    /// Fewer than offered: the peer is behind; keep the rest and go on in `writable`. Gather small pieces into one
    /// call: each is a system call, and a TLS record. After a failure it takes nothing and `closed` follows.
    func send(_ bytes: UnsafeRawBufferPointer) -> Int

    /// Stops or resumes reading; what is not read stays in the kernel, so the peer feels it.
    func setReceiving(_ receiving: Bool)

    /// Ends the connection after the current call; `closed(nil)` follows. What `send` took is on its way already.
    func close()

    /// Ends it like `close`, but waits for nothing that the peer may never take. Also after `close`.
    func drop()

    /// From any thread: makes the loop call `woken`. Cheap to repeat, wake-ups are merged.
    func wake()

    /// From any thread: ends the connection, also while it is still connecting. `closed` follows with `.cancelled`,
    /// unless the connection has ended by itself.
    func cancel()
}

extension RawConnection {
    package func drop() { close() }
}

/// Lives on the loop thread and speaks a protocol over a raw connection.
///
/// Calls come one at a time, in this order: `connected`, then any number of `received`, `writable` and `woken`, then
/// `closed` exactly once. A connection that fails to open gets `closed` only. None of them may block: every other
/// transfer of the transport waits meanwhile.
///
/// The pattern for many small messages: other threads append frames to a buffer under a lock and call `wake`; `woken`
/// swaps the buffer out and hands it to `send` in one piece; `received` parses everything it gets and resumes readers
/// once, after its lock is released. The transport retains the handler until `closed` has returned; a handler may
/// retain its connection and should let go of it in `closed`.
package protocol RawConnectionHandler: AnyObject, Sendable {
    func connected(_ connection: any RawConnection)
    /// Valid during the call only.
    func received(_ bytes: UnsafeRawBufferPointer, on connection: any RawConnection)
    /// After `send` took less than offered: there is room again.
    func writable(_ connection: any RawConnection)
    func woken(_ connection: any RawConnection)
    /// `nil`: the peer closed its side, or `close` was called. Otherwise why it broke or never came to be.
    func closed(_ connection: any RawConnection, error: TransportError?)
}

/// Opens raw connections.
package protocol RawConnector: Sendable {
    /// Begins to connect and returns at once; all news goes to `handler`, on the loop thread. Only what is refused
    /// outright (a bad address, a transport that is shut down) is closed before this returns.
    ///
    /// - Parameters:
    ///   - address: `http`, `https`, `ws` or `wss`; only scheme, host and port matter.
    ///   - connectDeadline: for name resolution, connecting and TLS together.
    @discardableResult
    func open(
        _ address: String, connectDeadline: Duration, handler: any RawConnectionHandler
    ) -> any RawConnection
}
