import Switchyard
package import SwitchyardBytes

/// In which parts a provider takes uploads, and how long a transfer is worth trying.
package struct TransferPolicy: Sendable {
    /// The first part, and the one after every failure.
    package var firstPart: Int64
    /// Parts double after each success up to this size. The same as `firstPart` for parts of a fixed size.
    package var largestPart: Int64
    /// The bound for parts that come from a stream: they are held in memory, to be sent again.
    package var largestStreamPart: Int64
    /// Contents up to this size go in one request, without a session; zero for never.
    package var wholeLimit: Int64
    /// How long a transfer goes without moving a byte before it gives up. The time it is paused does not count.
    package var patience: Duration = .seconds(600)
    package var backoff = Backoff.Policy(
        initial: .seconds(1), factor: 2, maximum: .seconds(64), jitter: 0.2, isFirstImmediate: true)
    /// How long throwing away a half-sent upload may take at the end.
    package var farewell: Duration = .seconds(5)

    func with(patience: Duration?) -> TransferPolicy {
        var policy = self
        policy.patience = patience ?? self.patience
        return policy
    }

    package init(firstPart: Int64, largestPart: Int64, largestStreamPart: Int64? = nil, wholeLimit: Int64) {
        self.firstPart = firstPart
        self.largestPart = max(firstPart, largestPart)
        self.largestStreamPart = max(firstPart, largestStreamPart ?? largestPart)
        self.wholeLimit = wholeLimit
    }
}
