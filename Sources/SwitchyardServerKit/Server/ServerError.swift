/// Why the local server could not start, or could not transfer bytes for a handler.
package enum ServerError: Error, Hashable, Sendable {
    case notLoopback(String)
    /// With the system's error number.
    case cannotListen(Int32)
    case cannotStart(Int32)
    /// The client has disconnected, or the server stops.
    case disconnected
    case cancelled
    /// The body of a request ended early or had invalid framing.
    case badRequestBody
    case bodyTooLarge(limit: Int)
}
