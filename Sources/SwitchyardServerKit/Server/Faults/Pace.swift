/// How slowly the bytes of an answer leave.
package struct Pace: Hashable, Sendable {
    /// The most that leaves at once; at least one.
    package let bytes: Int
    /// What passes between two pieces.
    package let interval: Duration

    package init(bytes: Int, every interval: Duration) {
        self.bytes = max(bytes, 1)
        self.interval = max(interval, .zero)
    }
}
