/// The speed at which the bytes of an answer are sent.
package struct Pace: Hashable, Sendable {
    /// The maximum size of a piece; at least one byte.
    package let bytes: Int
    /// The time between two pieces.
    package let interval: Duration

    package init(bytes: Int, every interval: Duration) {
        self.bytes = max(bytes, 1)
        self.interval = max(interval, .zero)
    }
}
