/// A TCP or TLS connection without a protocol on top, served by a transport's loop thread.
///
/// Except for `wake` and `cancel`, which any thread may call, everything here belongs to the loop thread: call it only within a
/// method of the handler.
package protocol RawConnection: AnyObject, Sendable {
    /// Sends bytes and returns how many were taken.
    ///
    /// Fewer than offered means that the peer is slow: keep the rest and continue in `writable`. Combine small pieces into one
    /// call, since each is a system call and a TLS record. After a failure it takes nothing, and `closed` follows.
    func send(_ bytes: UnsafeRawBufferPointer) -> Int

    /// Stops or resumes reading; unread bytes stay in the kernel, which slows down the peer.
    func setReceiving(_ receiving: Bool)

    /// Ends the connection after the current call; `closed(nil)` follows. Bytes taken by `send` are already on their way.
    func close()

    /// Like `close`, but does not wait for the peer to take anything. Also possible after `close`.
    func drop()

    /// Makes the loop call `woken`, from any thread. Wake-ups are merged, so repeating this is cheap.
    func wake()

    /// Ends the connection from any thread, even while it is connecting. `closed` follows with `.cancelled`, unless the
    /// connection has ended by itself.
    func cancel()
}

extension RawConnection {
    package func drop() { close() }
}

/// Implements a protocol on a raw connection, on the loop thread.
///
/// Calls come one at a time, in this order: `connected`, then any number of `received`, `writable` and `woken`, then `closed`
/// exactly once. A connection that cannot be opened gets only `closed`. Calls must not block, since all other transfers of the
/// transport wait meanwhile.
///
/// For many small messages: other threads append frames to a buffer under a lock and call `wake`; `woken` swaps out the buffer
/// and passes it to `send` in one piece; `received` parses everything and resumes readers once, after releasing its lock. The
/// transport retains the handler until `closed` has returned; a handler may retain its connection and should release it in
/// `closed`.
package protocol RawConnectionHandler: AnyObject, Sendable {
    func connected(_ connection: any RawConnection)
    /// The bytes are valid only during the call.
    func received(_ bytes: UnsafeRawBufferPointer, on connection: any RawConnection)
    /// After `send` took less than offered, there is room again.
    func writable(_ connection: any RawConnection)
    func woken(_ connection: any RawConnection)
    /// The error is `nil` if the peer closed its side or `close` was called; otherwise it is why the connection failed.
    func closed(_ connection: any RawConnection, error: TransportError?)
}

/// Opens raw connections.
package protocol RawConnector: Sendable {
    /// Starts to connect and returns at once; everything is reported to `handler`, on the loop thread. Only what is refused
    /// immediately (an invalid address, a transport that is shut down) is closed before this returns.
    ///
    /// - Parameters:
    ///   - address: `http`, `https`, `ws` or `wss`; only scheme, host and port matter.
    ///   - connectDeadline: The deadline for name resolution, connecting and TLS together.
    @discardableResult
    func open(
        _ address: String, connectDeadline: Duration, handler: any RawConnectionHandler
    ) -> any RawConnection
}
