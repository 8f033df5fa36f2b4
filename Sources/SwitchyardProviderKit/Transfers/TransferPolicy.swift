import Switchyard
package import SwitchyardBytes

/// The part sizes of a provider's uploads, and how long to retry a transfer.
package struct TransferPolicy: Sendable {
    /// The size of the first part, and of the one after every failure.
    package var firstPart: Int64
    /// Parts double after each success up to this size. The same as `firstPart` for parts of a fixed size.
    package var largestPart: Int64
    /// The limit for parts from a stream, which are held in memory for resending.
    package var largestStreamPart: Int64
    /// Contents up to this size are sent in one request, without a session; zero for never.
    package var wholeLimit: Int64
    /// How long a transfer goes without moving a byte before it gives up. The time it is paused does not count.
    package var patience: Duration = .seconds(600)
    package var backoff = Backoff.Policy(
        initial: .seconds(1), factor: 2, maximum: .seconds(64), jitter: 0.2, isFirstImmediate: true)
    /// How long discarding a partial upload may take at the end.
    package var discardLimit: Duration = .seconds(5)

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
